"""Naive twins: loops written to be read, straight from the formulas. Every fast path is compared with these."""

from __future__ import annotations

from itertools import combinations
from math import acos, atan2, cos, exp, gamma, log, pi, sin, sqrt, tanh

import numpy as np
from scipy.special import kv

# kernels, one pair at a time


def linear(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def polynomial(x, y, degree, gamma, coef0):
    return (gamma * linear(x, y) + coef0) ** degree


def squared_distance(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def rbf(x, y, gamma):
    return exp(-gamma * squared_distance(x, y))


def laplacian_manhattan(x, y, gamma):
    return exp(-gamma * sum(abs(a - b) for a, b in zip(x, y, strict=True)))


def laplacian_euclidean(x, y, gamma):
    return exp(-gamma * sqrt(squared_distance(x, y)))


def matern(x, y, nu, length_scale):
    """The textbook form, with a length scale."""
    distance = sqrt(squared_distance(x, y))
    if distance == 0:
        return 1.0
    z = sqrt(2 * nu) * distance / length_scale
    return 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)


def cauchy(x, y, gamma):
    return 1 / (1 + gamma * squared_distance(x, y))


def rational_quadratic(x, y, alpha, gamma):
    return (1 + gamma * squared_distance(x, y) / alpha) ** -alpha


def sigmoid(x, y, gamma, coef0):
    return tanh(gamma * linear(x, y) + coef0)


def cosine(x, y):
    lengths = sqrt(linear(x, x)) * sqrt(linear(y, y))
    return linear(x, y) / lengths if lengths > 0 else 0.0


def arc_cosine(x, y, order):
    angle = acos(max(-1.0, min(1.0, cosine(x, y))))
    if order == 0:
        return 1 - angle / pi
    return sqrt(linear(x, x) * linear(y, y)) / pi * (sin(angle) + (pi - angle) * cos(angle))


def histogram_intersection(x, y):
    return sum(min(a, b) for a, b in zip(x, y, strict=True))


def generalized_histogram_intersection(x, y, alpha):
    return sum(min(abs(a) ** alpha, abs(b) ** alpha) for a, b in zip(x, y, strict=True))


def chi_square(x, y):
    return sum(a * b / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def chi_square_distance(x, y):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def exponential_chi_square(x, y, gamma):
    return exp(-gamma * chi_square_distance(x, y))


def hellinger(x, y):
    return sum(sqrt(a * b) for a, b in zip(x, y, strict=True))


def jensen_shannon(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * log(a / (a + b)) if a > 0 else 0.0
        total += b * log(b / (a + b)) if b > 0 else 0.0
    return -total / log(2)


# strings and models


def spectrum(x: str, y: str, length: int, decay: float = 1.0, up_to: bool = False) -> float:
    """The sum over contiguous substrings u of psi_u(x) psi_u(y)."""
    total = 0.0
    for n in range(1, length + 1) if up_to else [length]:
        for i in range(len(x) - n + 1):
            for j in range(len(y) - n + 1):
                if x[i : i + n] == y[j : j + n]:
                    total += decay**n * decay**n
    return total


def subsequence(x: str, y: str, length: int, decay: float) -> float:
    """The sum over all index tuples of x and of y that spell the same string, weighted by their spans."""
    total = 0.0
    for a in combinations(range(len(x)), length):
        for b in combinations(range(len(y)), length):
            if all(x[i] == y[j] for i, j in zip(a, b, strict=True)):
                total += decay ** (a[-1] - a[0] + 1) * decay ** (b[-1] - b[0] + 1)
    return total


def mixture_log_density(x: np.ndarray, w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> float:
    """Log p(x) of a mixture of Gaussians with diagonal covariances."""
    density = 0.0
    for k in range(len(w)):
        component = log(w[k])
        for f in range(len(x)):
            component -= (x[f] - mu[k, f]) ** 2 / (2 * sigma[k, f] ** 2) + log(2 * pi * sigma[k, f] ** 2) / 2
        density += exp(component)
    return log(density)


def fisher_gradient(x: np.ndarray, w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The gradient of log p(x) in alpha (w = softmax(alpha)), means and standard deviations."""
    by_alpha, by_mean, by_deviation = [], [], []
    for k in range(len(w)):
        alone = mixture_log_density(x, w[[k]], mu[[k]], sigma[[k]])
        posterior = exp(alone - mixture_log_density(x, w, mu, sigma))
        by_alpha.append(posterior - w[k])
        for f in range(len(x)):
            by_mean.append(posterior * (x[f] - mu[k, f]) / sigma[k, f] ** 2)
            by_deviation.append(posterior * ((x[f] - mu[k, f]) ** 2 / sigma[k, f] ** 3 - 1 / sigma[k, f]))
    return np.array(by_alpha + by_mean + by_deviation)


def fisher_information(w: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The diagonal of the information matrix, for components that do not overlap."""
    by_alpha, by_mean, by_deviation = [], [], []
    for k in range(len(w)):
        by_alpha.append(w[k])
        for f in range(sigma.shape[1]):
            by_mean.append(w[k] / sigma[k, f] ** 2)
            by_deviation.append(2 * w[k] / sigma[k, f] ** 2)
    return np.array(by_alpha + by_mean + by_deviation)


def kernel_matrix(function, X, Y):
    """The matrix of a kernel given as a function of two samples."""
    return np.array([[function(x, y) for y in Y] for x in X], dtype=float)


# centring and eigenvectors


def center(K, w=None):
    """Inner products of features after their weighted mean is taken off, one entry at a time."""
    n = len(K)
    w = [1 / n] * n if w is None else w
    result = np.empty((n, n))
    length = sum(w[a] * w[b] * K[a, b] for a in range(n) for b in range(n))
    for i in range(n):
        for j in range(n):
            result[i, j] = K[i, j] + length
            result[i, j] -= sum(w[a] * K[a, j] for a in range(n))
            result[i, j] -= sum(w[b] * K[i, b] for b in range(n))
    return result


def center_new(K_new, K):
    """Inner products of new centered features with the training ones: the training mean is taken off both."""
    m, n = K_new.shape
    result = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            result[i, j] = K_new[i, j] - K_new[i].mean() - K[:, j].mean() + K.mean()
    return result


def jacobi(A, sweeps=100):
    """All eigenpairs of a symmetric matrix by plane rotations (tutorial, appendix A), largest first.

    The largest off-diagonal entry is rotated away until none is left. The angle of eq. 72 comes from atan2, which
    needs no special case for equal diagonal entries.
    """
    A = np.array(A, dtype=float)
    n = len(A)
    V = np.eye(n)
    for _ in range(sweeps * n * n):
        off = np.abs(A - np.diag(np.diag(A)))
        i, j = divmod(int(off.argmax()), n)
        if off[i, j] <= 1e-15 * max(np.abs(A).max(), 1e-300):
            break
        theta = atan2(2 * A[i, j], A[j, j] - A[i, i]) / 2
        P = np.eye(n)
        P[i, i] = P[j, j] = cos(theta)
        P[i, j], P[j, i] = -sin(theta), sin(theta)
        A = P @ A @ P.T
        V = V @ P.T
    order = np.argsort(-np.diag(A))
    return np.diag(A)[order], V[:, order]


def kernel_pca(K, k):
    """Eigenvalues of the centered matrix and the scores of the training samples (up to sign)."""
    values, vectors = jacobi(center(K))
    return values[:k], vectors[:, :k] * np.sqrt(np.maximum(values[:k], 0))


def kernel_pca_new(K, K_new, k):
    """Scores of new samples: their centered features projected on unit directions (up to sign)."""
    values, vectors = jacobi(center(K))
    return center_new(K_new, K) @ vectors[:, :k] / np.sqrt(values[:k])


def ridge_preimage(K_scores, K_new, X, ridge):
    """Kernel ridge regression of inputs on scores, evaluated at new scores."""
    return K_new @ np.linalg.inv(K_scores + ridge * np.eye(len(X))) @ X


def projected_point(K, scores, directions):
    """Coefficients over the samples of m + sum_k z_k v_k, m the mean of the mapped samples: the mean is kept."""
    n = len(K)
    c = np.full(n, 1 / n)
    for z, v in zip(scores, directions.T, strict=True):
        c = c + z * (v - v.sum() / n)
    return c


def distance_in_feature_space(k, x, X, c):
    """|phi(x) - sum_i c_i phi(x_i)|."""
    square = k(x, x)
    for a, x_a in zip(c, X, strict=True):
        square -= 2 * a * k(x, x_a)
        for b, x_b in zip(c, X, strict=True):
            square += a * b * k(x_a, x_b)
    return sqrt(max(square, 0.0))


def fixed_point_step(z, X, c, gamma):
    """Equation 8 of the analysis of Mika et al., with coefficients that keep the mean."""
    weights = [c_i * rbf(z, x, gamma) for c_i, x in zip(c, X, strict=True)]
    return sum(w * x for w, x in zip(weights, X, strict=True)) / sum(weights)


# approximations from a few products, and what they bound


def nystrom(K, V):
    """K V (V'K V)^-1 V'K, the Nyström approximation from the block V; the inverse is that on the range."""
    C = K @ V
    values, vectors = np.linalg.eigh(V.T @ C)
    result = np.zeros_like(K)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 1e-12 * max(values[-1], 1e-300):
            column = C @ vector
            result += np.outer(column, column) / value
    return result


def nystrom_from_columns(K, idx):
    """C W^-1 C' with C = K[:, idx] and W = K[idx, idx]."""
    units = np.zeros((len(K), len(idx)))
    for j, i in enumerate(idx):
        units[i, j] = 1.0
    return nystrom(K, units)


def nystrom_bound(L, Q, mu, k):
    """The sum of the k largest eigenvalues of L + mu (I - Q Q')."""
    values = np.linalg.eigvalsh(L + mu * (np.eye(len(L)) - Q @ Q.T))
    return sum(sorted(values, reverse=True)[:k])


def christoffel(E, Omega, degree, e):
    """sum_l pi_l(e)^2 up to a degree, by Gram-Schmidt on polynomials given by their values at all eigenvalues.

    The inner product of two polynomials is the sum over eigenvalues of their values there, weighted by |u'Omega|^2.
    """
    points, vectors = np.linalg.eigh(E)
    weights = [sum((u @ omega) ** 2 for omega in Omega.T) for u in vectors.T]

    def product(p, q):
        return sum(w * a * b for w, a, b in zip(weights, p[0], q[0], strict=True))

    known = []  # each polynomial: its values at the eigenvalues, and at e
    values, value = np.ones(len(points)), 1.0
    for _ in range(degree + 1):
        for _ in range(2):
            for old in known:
                share = product((values, value), old)
                values, value = values - share * old[0], value - share * old[1]
        norm = sqrt(product((values, value), (values, value)))
        known.append((values / norm, value / norm))
        values, value = points * known[-1][0], e * known[-1][1]
    return sum(at_e**2 for _, at_e in known)


def dual_cost(K, H):
    """1/2 tr H'H - tr sqrt(H'K H)."""
    half = sum(h**2 for h in H.ravel()) / 2
    return half - sum(sqrt(max(value, 0.0)) for value in np.linalg.eigvalsh(H.T @ K @ H))


def dual_gradient(K, H, step=1e-5):
    """The gradient of the dual cost by central differences, one entry at a time."""
    gradient = np.empty_like(H)
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            ahead, behind = H.copy(), H.copy()
            ahead[i, j] += step
            behind[i, j] -= step
            gradient[i, j] = (dual_cost(K, ahead) - dual_cost(K, behind)) / (2 * step)
    return gradient


# landmarks and sketches


def about_landmarks(K, idx):
    """Inner products of samples less the mean of the landmarks."""
    toward = K[:, idx].mean(axis=1)
    return K - toward - toward[:, None] + toward[idx].mean()


def landmark_approximation(K, idx, centering):
    """The Nyström approximation C W^+ C' (n, n); with centring in the landmarks' affine hull, over all rows."""
    K = about_landmarks(K, idx) if centering else K
    C, W = K[:, idx], K[np.ix_(idx, idx)]
    approximation = C @ np.linalg.pinv(W, rcond=1e-12, hermitian=True) @ C.T
    H = np.eye(len(K)) - 1 / len(K)
    return H @ approximation @ H if centering else approximation


def landmark_extension(K, idx, k, centering):
    """Eigenvalues and unit vectors by eq. 62 and 63 of the tutorial, with the factor sqrt(q/n) in the latter."""
    n, q = len(K), len(idx)
    if centering:
        K = about_landmarks(K, idx)
    values, vectors = np.linalg.eigh(K[np.ix_(idx, idx)])
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    extended = np.sqrt(q / n) / values * (K[:, idx] @ vectors)
    return n / q * values, extended - extended.mean(axis=0) if centering else extended


def rpcholesky(K, m, rng):
    """Randomly pivoted Cholesky, one pivot at a time."""
    n = len(K)
    rest, chosen = K.copy(), []
    for _ in range(m):
        p = np.maximum(rest.diagonal(), 0)
        i = rng.choice(n, p=p / p.sum())
        chosen.append(int(i))
        rest = rest - np.outer(rest[:, i], rest[:, i]) / rest[i, i]
        rest[chosen], rest[:, chosen] = 0, 0
    return chosen


def ridge_leverage_scores(K, ridge):
    """The diagonal of K (K + ridge I)^-1."""
    return (K @ np.linalg.inv(K + ridge * np.eye(len(K)))).diagonal()


def sketch(K, P, k):
    """Algorithm 6 of the tutorial on a (centered) kernel matrix, with vectors brought to unit length."""
    Z = (K @ P).T
    squares, u = np.linalg.eigh(Z @ Z.T)
    squares, u = squares[::-1][:k], u[:, ::-1][:, :k]
    vectors = K @ (Z.T @ u) / squares
    return np.sqrt(squares), vectors / np.linalg.norm(vectors, axis=0)


# slopes


def gradient_of_kernel_sum(kernel_function, X, Y, C, h=1e-5):
    """The gradient of sum_j C_ij k(x_i, y_j) in each x_i, by central differences, one entry at a time."""
    X = np.array(X, dtype=np.float64)
    gradient = np.zeros(X.shape)
    for i in range(len(X)):
        for f in range(X.shape[1]):
            ahead, behind = X[i].copy(), X[i].copy()
            ahead[f] += h
            behind[f] -= h
            for j in range(len(Y)):
                difference = kernel_function(ahead, Y[j]) - kernel_function(behind, Y[j])
                gradient[i, f] += C[i, j] * difference / (2 * h)
    return gradient


# pre-images from distances and as weighted combinations


def squared_distances_in_feature_space(K, c):
    """|phi(x_i) - sum_a c_a phi(x_a)|^2 of every sample i."""
    n = len(K)
    own = sum(c[a] * c[b] * K[a, b] for a in range(n) for b in range(n))
    return np.array([K[i, i] - 2 * sum(c[a] * K[a, i] for a in range(n)) + own for i in range(n)])


def point_from_distances(neighbors, squares):
    """Kwok and Tsang for one point: X H = U L V', x = mean - U L^-1 V'(d^2 - d0^2) / 2, samples as columns of X."""
    X = np.array(neighbors).T
    mean = X.mean(axis=1)
    U, L, V = np.linalg.svd(X - mean[:, None], full_matrices=False)
    flat = len(neighbors) * np.finfo(float).eps * L[0] ** 2
    rank = sum(a**2 > flat for a in L)
    from_mean = np.array([squared_distance(x, mean) for x in X.T])
    z = -0.5 / L[:rank] * (V[:rank] @ (squares - from_mean))
    return mean + U[:, :rank] @ z


def falling_weights(z, scores, rule):
    """Weights of section 4 of the digest for one point: a function of the distance of scores, made to sum to one."""
    distances = [sqrt(squared_distance(z, s)) for s in scores]
    if min(distances) == 0:
        w = [float(d == 0) for d in distances]
    elif rule == "exponential":
        w = [exp(-d) for d in distances]
    else:
        w = [1 / d if rule == "inverse" else 1 / d**2 for d in distances]
    return np.array(w) / sum(w)


def combination_about_mean(w, X):
    """mean + sum_j w_j (x_j - mean)."""
    mean = sum(X) / len(X)
    return mean + sum(w_j * (x - mean) for w_j, x in zip(w, X, strict=True))


def discrepancy(w, z, X, kernel, directions, K, centering, factors):
    """Equation 33 of the digest: squared differences of scores z and those of the combination, one sample at a time."""
    x = combination_about_mean(w, X)
    g = np.array([[kernel(x, y) for y in X]])
    g = center_new(g, K)[0] if centering else g[0]
    return sum(t * (z_k - g @ v) ** 2 for t, z_k, v in zip(factors, z, directions.T, strict=True))


def log_discrepancy(w, g, X, gamma):
    """Equation 36 of the digest, over kernel values g above a millionth of the largest."""
    x = combination_about_mean(w, X)
    terms = [(log(a) + gamma * squared_distance(y, x)) ** 2 for a, y in zip(g, X, strict=True) if a > 1e-6 * max(g)]
    return sum(terms)


# invertible kernel PCA


def undo_nonlinearity(value, angle, form, branch):
    """One angle from its sine or cosine, or from (cosine, sine), or from a ReLU value; `angle` is the reference's."""
    if form == "relu":
        return max(value, 0.0) + min(angle, 0.0)
    if form == "paired":
        found = atan2(value[1], value[0])
        return min((found + 2 * pi * turns for turns in range(-50, 51)), key=lambda a: abs(a - angle))
    value = max(-1.0, min(1.0, value))
    if branch == "added":
        inverse, function = (np.arcsin, sin) if form == "sin" else (np.arccos, cos)
        return inverse(value) + (angle - inverse(function(angle)))
    for k in range(-100, 101):  # branches
        middle = pi * k if form == "sin" else pi * (k + 0.5)
        if abs(angle - middle) <= pi / 2:
            rises = k % 2 == 0 if form == "sin" else k % 2 == 1
            return middle + np.arcsin(value) * (1 if rises else -1)
    raise ValueError(angle)


def invertible_kernel_pca(X, Y, W, b, amplitude, k, ridge, form, branch="reflected", centering=True):
    """Equations 2 and 4 of the ikPCA paper: Y compressed to k components found in X, and back, a sample at a time."""

    def products(x):
        return [linear(w, x) + shift for w, shift in zip(W, b, strict=True)]

    def feature_values(x):
        alpha = products(x)
        if form == "paired":
            return [amplitude * cos(a) for a in alpha] + [amplitude * sin(a) for a in alpha]
        sigma = {"sin": sin, "cos": cos, "relu": lambda a: max(a, 0.0)}[form]
        return [amplitude * sigma(a) for a in alpha]

    F = np.array([feature_values(x) for x in X])
    mean = sum(F) / len(F) if centering else np.zeros(F.shape[1])
    P = np.linalg.eigh(sum(np.outer(f - mean, f - mean) for f in F))[1][:, ::-1][:, :k]
    answers = []
    for y in Y:
        z = P.T @ (np.array(feature_values(y)) - mean)
        beta = (mean + P @ z) / amplitude
        if form == "paired":
            beta = list(zip(beta[: len(W)], beta[len(W) :], strict=True))
        alpha = [undo_nonlinearity(value, a, form, branch) for value, a in zip(beta, products(y), strict=True)]
        A = np.vstack([W, sqrt(ridge) * np.eye(W.shape[1])])
        target = np.concatenate([np.array(alpha) - b, np.zeros(W.shape[1])])
        answers.append(np.linalg.lstsq(A, target, rcond=None)[0])
    return np.array(answers)


# ridge regression with rows left out


def ridge_left_out(K, Y, ridge):
    """Kernel ridge regression solved anew without each row in turn: errors (n, d) at the row that was left out."""
    errors = []
    for i in range(len(K)):
        others = [j for j in range(len(K)) if j != i]
        A = K[np.ix_(others, others)] + ridge * np.eye(len(others))
        errors.append(Y[i] - K[i, others] @ np.linalg.solve(A, Y[others]))
    return np.array(errors)


def landmark_ridge(C, W, Y, ridge):
    """Coefficients a that minimize |C a - Y|^2 + ridge a'W a: regression on landmarks, C (n, m) and W (m, m)."""
    return np.linalg.lstsq(C.T @ C + ridge * W, C.T @ Y, rcond=1e-15)[0]


def landmark_ridge_left_out(C, W, Y, ridge):
    """The same solved anew without each row in turn; the landmarks stay: errors (n, d)."""
    errors = []
    for i in range(len(C)):
        others = [j for j in range(len(C)) if j != i]
        errors.append(Y[i] - C[i] @ landmark_ridge(C[others], W, Y[others], ridge))
    return np.array(errors)


# the dual of kernel PCA, from the formulas of the dualization paper (Tonin et al. 2023)


def huber_penalty(Y, kappa, norm):
    """Psi of Huber's objective: kappa times a sum of lengths of rows, of sizes of entries, or the whole length."""
    if norm == "2":
        return kappa * sum(sqrt(sum(y * y for y in row)) for row in Y)
    if norm == "1":
        return kappa * sum(abs(y) for row in Y for y in row)
    return kappa * sqrt(sum(y * y for row in Y for y in row))


def huber_gradient(Y, kappa, norm):
    """The nearest point within the limit: rows, entries or the whole shortened to kappa."""
    H = np.array(Y, dtype=float)
    if norm == "fro":
        length = sqrt((H**2).sum())
        return H if length <= kappa else H * kappa / length
    for i in range(len(H)):
        if norm == "2":
            length = sqrt(sum(h * h for h in H[i]))
            if length > kappa:
                H[i] = H[i] * kappa / length
        else:
            H[i] = [max(-kappa, min(kappa, h)) for h in H[i]]
    return H


def epsilon_penalty(H, epsilon, norm):
    """Psi* of the epsilon-insensitive objective."""
    if norm == "2":
        return epsilon * sum(sqrt(sum(h * h for h in row)) for row in H)
    return epsilon * sum(abs(h) for row in H for h in row)


def epsilon_gradient(Y, epsilon, norm):
    """Rows, or entries, shortened by epsilon."""
    H = np.zeros(np.shape(Y))
    for i, row in enumerate(Y):
        if norm == "2":
            length = sqrt(sum(y * y for y in row))
            if length > epsilon:
                H[i] = np.array(row) * (length - epsilon) / length
        else:
            for j, y in enumerate(row):
                H[i, j] = (1 if y > 0 else -1) * max(abs(y) - epsilon, 0.0)
    return H


def matrix_root(M):
    """The symmetric square root of a positive semi-definite matrix, by Jacobi's method."""
    values, vectors = jacobi(M)
    return sum(sqrt(max(v, 0.0)) * np.outer(u, u) for v, u in zip(values, vectors.T, strict=True))


def nuclear(H, G):
    """tr sqrt(H'G H), proposition 3.2."""
    return float(np.trace(matrix_root(H.T @ G @ H)))


def nuclear_gradient(H, G):
    """G H (H'G H)^(-1/2), proposition 3.4."""
    return G @ H @ np.linalg.inv(matrix_root(H.T @ G @ H))


def dca(G, H, gradient, steps):
    """Algorithm 1: H <- prox of Psi* at the gradient of tr sqrt(H'G H); `gradient` is that prox."""
    for _ in range(steps):
        H = gradient(nuclear_gradient(H, G))
    return H


def dual_projections(G_new, G, H):
    """Equation 8: (m, n) kernel values of new points with the training points -> (m, s) projections."""
    return G_new @ H @ np.linalg.inv(matrix_root(H.T @ G @ H))


def quasi_newton(function, x, low, high, tol, max_iter, floor):
    """One row of `minimize`, with the inverse Hessian written out: every point on the way, and whether it converged."""
    x = np.clip(x, low, high)
    f, g = function(x)
    path, pairs = [x], []  # 16 pairs, None for those that showed no positive curvature
    quiet, stuck, stretch, size, hoped = 0, 0, 1.0, np.linalg.norm(x) or 1.0, np.inf
    for step in range(max_iter + 1):
        free = ~((x <= low) & (g > 0) | (x >= high) & (g < 0))
        slope = np.where(free, g, 0)
        size, steep = max(size, np.linalg.norm(x)), np.linalg.norm(slope)
        level = min(1e-3 * size * steep, hoped) <= max(tol * abs(f), floor) or abs(f) <= floor
        if quiet == 2 or size * steep <= floor or stuck >= 2:
            return path, quiet == 2 or size * steep <= floor or level
        if step == max_iter:
            break
        counts = [(s * free, y * free) for s, y in filter(None, pairs) if s @ (y * free) > 0]
        p = -_inverse_hessian(counts, len(x)) @ slope
        if p @ slope >= 0:
            p, pairs, counts = -slope, [], []
        unknown = not counts
        if not (unknown and stuck):
            hoped = np.inf if unknown else -p @ slope / 2
        p = p * stretch * (1e-3 * size / steep if unknown else 1.0)
        for halvings in range(25):
            new = np.clip(x + p / 2**halvings, low, high)
            f_new, g_new = function(new)
            if f_new <= f + 1e-4 * min(g @ (new - x), 0.0):
                break
        else:
            new = x
        if (new == x).all():
            stuck, quiet, stretch, pairs, path = stuck + 1 + unknown, 0, 1.0, [], [*path, x]
            continue
        s, y = new - x, g_new - g
        curved = s @ y > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y)
        pairs = [*pairs, (s, y) if curved else None][-16:]
        stuck = 0
        told = not unknown or stretch >= 1000
        quiet = quiet + 1 if f - f_new <= max(tol * abs(f_new), floor) and told else 0
        stretch = 1.0 if curved else min(2 * stretch, 1000)
        x, f, g = new, f_new, g_new
        path.append(x)
    return path, False


def _inverse_hessian(pairs, d):
    """BFGS, pair after pair; it starts at the scale of the latest pair."""
    scale = pairs[-1][0] @ pairs[-1][1] / (pairs[-1][1] @ pairs[-1][1]) if pairs else 1.0
    one = np.eye(d)
    H = scale * one
    for s, y in pairs:
        rho = 1 / (s @ y)
        H = (one - rho * np.outer(s, y)) @ H @ (one - rho * np.outer(y, s)) + rho * np.outer(s, s)
    return H
