DROP VIEW IF EXISTS `nbsql scan`;
