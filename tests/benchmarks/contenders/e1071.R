# Rscript e1071.R TABLE.csv: reads acts from standard input, answers each with "done".
suppressMessages(library(e1071))
file <- commandArgs(trailingOnly = TRUE)[1]
table <- read.csv(file, stringsAsFactors = TRUE)
y <- factor(table$y)
x <- table[names(table) != "y"]
cat("done\n")
acts <- file("stdin", "r")
while (length(line <- readLines(acts, n = 1)) > 0) {
  act <- strsplit(line, " ")[[1]]
  if (act[1] == "fit") model <- naiveBayes(x, y, laplace = 1)
  if (act[1] == "predict") predicted <- predict(model, x)
  if (act[1] == "answers") {
    posterior <- predict(model, head(x, as.integer(act[2])), type = "raw")
    writeLines(as.character(predict(model, x)), paste0(file, ".predictions"))
    write.table(format(posterior, digits = 15), paste0(file, ".posterior"), sep = ",", quote = FALSE, row.names = FALSE, col.names = FALSE)
  }
  cat("done\n")
}
