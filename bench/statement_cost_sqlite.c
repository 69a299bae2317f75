/* What a prepared statement on one row costs SQLite: the peer of crates/quire/examples/statement_cost.rs.
 *
 *     cc -O2 -o statement_cost_sqlite bench/statement_cost_sqlite.c -lsqlite3 && ./statement_cost_sqlite
 *
 * The same rows, statements and rounds; all data and the rollback journal in memory, which is
 * what such a database has by itself. Nanoseconds of a processor, best of some rounds.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 200000, ROUNDS = 9, STATEMENTS = 50000, C_BYTES = 119, PAD_BYTES = 59 };

static sqlite3 *database;

static int64_t random_below(int64_t end) {
    static uint64_t state = 0x9E3779B97F4A7C15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)end);
}

static void require(int found, int expected) {
    if (found != expected) {
        fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(database));
        exit(1);
    }
}

static void execute(const char *sql) { require(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    require(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static void bind_digits(sqlite3_stmt *insert, int parameter, int bytes) {
    char digits[C_BYTES];
    for (int at = 0; at < bytes; at++)
        digits[at] = (char)('0' + random_below(10));
    require(sqlite3_bind_text(insert, parameter, digits, bytes, SQLITE_TRANSIENT), SQLITE_OK);
}

static void fill(void) {
    execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL, pad TEXT NOT NULL)");
    sqlite3_stmt *insert = prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)");
    execute("BEGIN");
    for (int id = 0; id < ROWS; id++) {
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_int64(insert, 2, id);
        bind_digits(insert, 3, C_BYTES);
        bind_digits(insert, 4, PAD_BYTES);
        require(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    execute("COMMIT");
    sqlite3_finalize(insert);
}

static double thread_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Runs the statement for one row and looks at all of its `column_count` columns. */
static void run(sqlite3_stmt *statement, int column_count) {
    sqlite3_bind_int64(statement, 1, random_below(ROWS));
    require(sqlite3_step(statement), column_count > 0 ? SQLITE_ROW : SQLITE_DONE);
    for (int column = 0; column < column_count; column++)
        if (column == 0 ? sqlite3_column_int64(statement, 0) < 0 : sqlite3_column_text(statement, column) == NULL)
            exit(1);
    require(sqlite3_reset(statement), SQLITE_OK);
}

static void show(const char *name, const char *sql, int column_count) {
    sqlite3_stmt *statement = prepare(sql);
    double best_ns = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double before_ns = thread_ns();
        for (int count = 0; count < STATEMENTS; count++)
            run(statement, column_count);
        double round_ns = (thread_ns() - before_ns) / STATEMENTS;
        best_ns = round_ns < best_ns ? round_ns : best_ns;
    }
    printf("%-18s %8.0f\n", name, best_ns);
    sqlite3_finalize(statement);
}

int main(void) {
    require(sqlite3_open(":memory:", &database), SQLITE_OK);
    fill();
    printf("SQLite %-11s   ns CPU\n", sqlite3_libversion());
    show("select a number", "SELECT k FROM t WHERE id = ?1", 1);
    show("select a row", "SELECT k, c, pad FROM t WHERE id = ?1", 3);
    show("update", "UPDATE t SET k = k + 1 WHERE id = ?1", 0);
    return 0;
}
