"""Tutorial on PCA and approximate PCA and approximate kernel PCA (Marukatat, 2022)."""
