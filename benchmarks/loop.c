/* What a step on a row cannot do without: its dot product with x, and a multiple of it added to x.

   For i in `order`:  x += step * (1 - <a_i, x>) * a_i      (Kaczmarz: x stays bounded)

   No loss, no dual variable, no labels, no sampling. The plain loops leave it to the machine to find the next row; those
   that look AHEAD ask for the row after the next. Sparse and dense loops take the same arguments but for the data. */

#define SPARSE(NAME, REAL, AHEAD)                                                                                      \
    void NAME(int count, int d, const int *order, const int *start, const int *columns, const REAL *values, REAL *x,   \
              double step) {                                                                                           \
        for (int t = 0; t < count; t++) {                                                                              \
            int i = order[t], first = start[i], last = start[i + 1], soon = order[t + 2 < count ? t + 2 : count - 1];  \
            for (int k = start[soon]; AHEAD && k < start[soon + 1]; k += 8) {                                          \
                __builtin_prefetch(values + k);                                                                        \
                __builtin_prefetch(columns + k);                                                                       \
            }                                                                                                          \
            REAL dot = 0;                                                                                              \
            for (int k = first; k < last; k++) dot += values[k] * x[columns[k]];                                       \
            REAL move = (REAL)step * (1 - dot);                                                                        \
            for (int k = first; k < last; k++) x[columns[k]] += move * values[k];                                      \
        }                                                                                                              \
    }

#define DENSE(NAME, REAL, AHEAD)                                                                                       \
    void NAME(int count, int d, const int *order, const REAL *restrict X, REAL *restrict x, double step) {             \
        for (int t = 0; t < count; t++) {                                                                              \
            const REAL *row = X + (long)order[t] * d, *soon = X + (long)order[t + 2 < count ? t + 2 : count - 1] * d;  \
            for (int j = 0; AHEAD && j < d; j += 8) __builtin_prefetch(soon + j);                                      \
            REAL dot = 0;                                                                                              \
            for (int j = 0; j < d; j++) dot += row[j] * x[j];                                                          \
            REAL move = (REAL)step * (1 - dot);                                                                        \
            for (int j = 0; j < d; j++) x[j] += move * row[j];                                                         \
        }                                                                                                              \
    }

SPARSE(sparse_float64_plain, double, 0)
SPARSE(sparse_float64_ahead, double, 1)
SPARSE(sparse_float32_plain, float, 0)
SPARSE(sparse_float32_ahead, float, 1)
DENSE(dense_float64_plain, double, 0)
DENSE(dense_float64_ahead, double, 1)
DENSE(dense_float32_plain, float, 0)
DENSE(dense_float32_ahead, float, 1)
