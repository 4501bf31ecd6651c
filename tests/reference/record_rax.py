"""Records what rax gives where Ordino chooses otherwise: ``python tests/reference/record_rax.py`` writes its values.

It wants an environment of its own, with rax alone: ``pip install rax``.
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import rax

FILE = Path(__file__).with_name("rax_values.json")
SCORES, SWAPPED, WEIGHTS = [2.0, 1.0, 0.5], [1.0, 2.0, 0.5], [2.0, 1.0, 3.0]
TIED, ONE, GRADED = [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 2.0, 0.0]


def main() -> None:
    jax.config.update("jax_enable_x64", True)

    def asked(function, scores, labels, weights=None, **options):
        if weights is not None:
            options["weights"] = jnp.array(weights)
        value = float(function(jnp.array(scores), jnp.array(labels), **options))
        return {"scores": scores, "labels": labels, "weights": weights, "value": value}

    shares = {"label_fn": rax.utils.normalize_probabilities}
    values = {
        "version": rax.__version__,
        "accuracy of equal labels": asked(rax.opa_metric, SCORES[:2], TIED[:2]),
        "listmle": asked(rax.listmle_loss, SCORES, GRADED),
        "listmle of equal labels": asked(rax.listmle_loss, SCORES, TIED),
        "listmle of equal labels, swapped": asked(rax.listmle_loss, SWAPPED, TIED),
        "pairs": asked(rax.pairwise_logistic_loss, SCORES, ONE, reduce_fn=jnp.sum),
        "pairs with weights": asked(rax.pairwise_logistic_loss, SCORES, ONE, WEIGHTS, reduce_fn=jnp.sum),
        "softmax": asked(rax.softmax_loss, SCORES, GRADED, **shares),
        "softmax with weights": asked(rax.softmax_loss, SCORES, GRADED, WEIGHTS, **shares),
    }
    FILE.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
