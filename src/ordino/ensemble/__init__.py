"""Many rankers as one: members are trained out of fold, judged by queries that they have not seen, and averaged."""
