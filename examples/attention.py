"""Self-attention over the list: a ranker that sees its rivals, trained by TorchRanker with the loss of LambdaRank.

Reads MQ2008 in the folder named by ORDINO_DATA, or makes data like it. Needs torch: pip install 'ordino[torch]'
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from torch import Tensor, nn

import ordino


class Attention(nn.Module):
    """Scores each document of a list knowing the others."""

    def __init__(self, n_features: int, width: int = 64, heads: int = 2, dropout: float = 0.3) -> None:
        super().__init__()
        self.embed = nn.Linear(n_features, width)
        self.rivals = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout, batch_first=True, norm_first=True)
        self.score = nn.Linear(width, 1)

    def forward(self, X: Tensor, mask: Tensor) -> Tensor:
        """Scores of padded lists; the mask is False where there is no document."""
        seen = self.rivals(self.embed(X), src_key_padding_mask=~mask)  # (n_lists, longest, width)
        scores: Tensor = self.score(seen).squeeze(-1)  # (n_lists, longest)
        return scores


def main() -> None:
    folder = os.environ.get("ORDINO_DATA")
    if folder:
        fold = next(iter(ordino.read_folds(Path(folder, "MQ2008"))))
        train, valid, test = fold.train, fold.valid, fold.test
    else:
        train, valid, test = ordino.synthetic("mq", queries=200, seed=1).split(0.6, 0.2)
    ranker = ordino.TorchRanker(Attention, list_size=64, scaling="zscore", learning_rate=1e-3, epochs=15, patience=5)
    for one in (ordino.RankNet(scaling="zscore", epochs=15, patience=5), ranker):
        one.fit(train, valid=valid)
        print(f"{type(one).__name__}: NDCG@10 {one.score(test):.4f}, best epoch {one.best_epoch_}")
    with TemporaryDirectory() as folder:
        path = Path(folder, "attention.ordino")
        ordino.save(ranker, path)  # the weights and how they were trained; no code
        again = ordino.load(path, module=Attention)
    print(f"The same scores from the file: {(again.predict(test) == ranker.predict(test)).all()}")


if __name__ == "__main__":
    main()
