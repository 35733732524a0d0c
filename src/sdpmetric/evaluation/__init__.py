"""How good a metric is: retrieval scores, triplet accuracy, folds, bootstrap intervals."""
