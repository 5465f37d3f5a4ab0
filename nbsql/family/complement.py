"""The complement family: columns of counts that score a class by the counts of all other classes."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.checks import checked, set_attributes, true_or_false
from nbsql.family.multinomial import Multinomial


@dataclass(frozen=True)
class Complement(Multinomial):
    """Columns of counts that share one total, scored by how much they differ from the counts of all other classes.

    This is the complement naive Bayes of Rennie et al. (2003), for classes of very different sizes. The score of a class is the
    sum over the columns t of -x_t ln((n_t - n_ct + alpha_t) / (n - n_c + sum of alpha)). A model whose features are all
    complements does not use priors.

    Args:
        columns: the count columns.
        alpha: one pseudo-count for all columns, or one for each: {"w1": 0.5, "w2": 2}; columns not named take the fit's alpha.
        norm: whether the weights of a class are divided by the sum of their absolute values.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (3, 0, 'a'), (2, 1, 'a'), (0, 4, 'b')) AS t(free, lunch, y)"
    >>> families = {"words": nbsql.Complement(["free", "lunch"])}
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families=families)
    >>> model.predict_one({"free": 1, "lunch": 0})["prediction"]
    'a'
    """

    norm: bool = False

    name: ClassVar[str] = "complement"
    estimation_only: ClassVar[tuple[str, ...]] = (*Multinomial.estimation_only, "norm")
    complement: ClassVar[bool] = True
    distribution: ClassVar[str] = "complement"

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, true_or_false, "norm")
        set_attributes(self, normalised_weights=self.norm)
