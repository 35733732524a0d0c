"""The scikit-learn side: fits, estimators, searches, adapters of embeddings."""
