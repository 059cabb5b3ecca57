// Maps (OpenStreetMap, GeoPackage, Shapefile, GeoJSON) by GDAL's program ogr2ogr, which writes them as one SQLite file with
// a table for each layer; read here with their geometry in WKB. Longitude and latitude become metres east and north of the
// middle: lengths 1 km away from it are off by less than 0.04 %. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/geometry.h"
#include "import/drawing.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

enum { TABLES_MOST = 1000, PATH_MOST = 300, TEXT_MOST = 1 << 30 };

typedef struct reader {
    th_drawing *out;
    th_error *error;
    th_geometry geometry;
    GEOSWKBReader *wkb;
    sqlite3 *db;
    bool degrees;
} reader;

static bool fails(reader *r, const char *why) {
    if (r->error->code == TH_OK) th_fail(r->error, TH_BAD_SCENE, "", "%s", why);
    return false;
}

// ---- geometries

static bool add_points(reader *r, int layer, const GEOSGeometry *line, bool closed) {
    GEOSContextHandle_t geos = r->geometry.geos;
    const GEOSCoordSequence *list = GEOSGeom_getCoordSeq_r(geos, line);
    unsigned count = 0;
    if (list) GEOSCoordSeq_getSize_r(geos, list, &count);
    th_point *points = th_arena_alloc(r->out->arena, count + 1, sizeof *points);
    if (!points) return fails(r, "no memory for the map");
    for (unsigned k = 0; k < count; ++k) {
        GEOSCoordSeq_getX_r(geos, list, k, &points[k].x);
        GEOSCoordSeq_getY_r(geos, list, k, &points[k].y);
    }
    return th_drawing_add(r->out, layer, points, (int)count - closed, closed, r->error);
}

static bool add_geometry(reader *r, int layer, const GEOSGeometry *shape) {
    GEOSContextHandle_t geos = r->geometry.geos;
    int type = GEOSGeomTypeId_r(geos, shape);
    if (type == GEOS_POINT) return th_drawing_leave_out(r->out, "points", 1);
    if (type == GEOS_LINESTRING || type == GEOS_LINEARRING)
        return add_points(r, layer, shape, GEOSisClosed_r(geos, shape) == 1);
    if (type == GEOS_POLYGON) {
        if (GEOSisEmpty_r(geos, shape)) return true;
        if (!add_points(r, layer, GEOSGetExteriorRing_r(geos, shape), true)) return false;
        for (int k = 0; k < GEOSGetNumInteriorRings_r(geos, shape); ++k)
            if (!add_points(r, layer, GEOSGetInteriorRingN_r(geos, shape, k), true)) return false;
        return true;
    }
    for (int k = 0; k < GEOSGetNumGeometries_r(geos, shape); ++k)
        if (!add_geometry(r, layer, GEOSGetGeometryN_r(geos, shape, k))) return false;
    return true;
}

// ---- tables

// The kind of a row: the tags of OpenStreetMap, or a column "layer", or the table.
static const char *layer_of(sqlite3_stmt *row, const char *table, char *text, size_t size) {
    static const char *const tags[] = {"building", "barrier",  "highway", "railway",
                                       "waterway", "natural",  "landuse", "leisure",
                                       "amenity",  "man_made", "layer",   "role"};
    const char *best = NULL;
    size_t rank = sizeof tags / sizeof *tags;
    for (int c = 0; c < sqlite3_column_count(row); ++c) {
        const char *name = sqlite3_column_name(row, c);
        for (size_t k = 0; k < rank; ++k) {
            if (strcasecmp(name, tags[k]) != 0 || sqlite3_column_type(row, c) != SQLITE_TEXT)
                continue;
            const char *value = (const char *)sqlite3_column_text(row, c);
            if (!value || !*value) continue;
            rank = k;
            best = value;
        }
    }
    if (!best) return table;
    if (rank >= 10)
        snprintf(text, size, "%.150s", best);
    else if (rank == 0) // whatever kind of building; one may walk under roofs
        snprintf(text, size, "%s", strcmp(best, "roof") == 0 ? "roof" : "building");
    else
        snprintf(text, size, "%s=%.100s", tags[rank], best);
    return text;
}

static bool read_table(reader *r, const char *table, const char *column) {
    char sql[800], layer[200];
    sqlite3_stmt *row = NULL;
    sqlite3_snprintf(sizeof sql, sql, "SELECT *, \"%w\" FROM \"%w\"", column, table);
    if (sqlite3_prepare_v2(r->db, sql, -1, &row, NULL) != SQLITE_OK)
        return fails(r, "a table of the converted map cannot be read");
    bool good = true;
    int last = sqlite3_column_count(row) - 1;
    while (good && sqlite3_step(row) == SQLITE_ROW) {
        const unsigned char *bytes = sqlite3_column_blob(row, last);
        int size = sqlite3_column_bytes(row, last);
        GEOSGeometry *shape =
            bytes && size > 0 ? GEOSWKBReader_read_r(r->geometry.geos, r->wkb, bytes, (size_t)size)
                              : NULL;
        const char *name = layer_of(row, table, layer, sizeof layer);
        int l = shape ? th_drawing_layer(r->out, name, r->error) : 0;
        good = l >= 0 && (shape ? add_geometry(r, l, shape)
                                : th_drawing_leave_out(r->out, "without a shape", 1));
        GEOSGeom_destroy_r(r->geometry.geos, shape);
    }
    sqlite3_finalize(row);
    return good;
}

static bool read_tables(reader *r) {
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT f_table_name, f_geometry_column, s.srtext FROM geometry_columns "
                           "g LEFT JOIN spatial_ref_sys s ON g.srid = s.srid ORDER BY 1",
                           -1, &row, NULL) != SQLITE_OK)
        return fails(r, "the map has no layers");
    bool good = true;
    int tables = 0;
    while (good && sqlite3_step(row) == SQLITE_ROW && tables++ < TABLES_MOST) {
        const char *table = (const char *)sqlite3_column_text(row, 0);
        const char *column = (const char *)sqlite3_column_text(row, 1);
        const char *system = (const char *)sqlite3_column_text(row, 2);
        if (!table || !column) continue;
        r->degrees |= system && strncmp(system, "GEOGCS", 6) == 0;
        good = strlen(table) > 200 || strlen(column) > 200 || read_table(r, table, column);
    }
    sqlite3_finalize(row);
    return good;
}

// ---- metres

// Radii of curvature of WGS 84 at a latitude, north and east [m].
static th_point radii_at(double latitude) {
    const double a = 6378137.0, e2 = 6.69437999014e-3;
    double s = sin(latitude), w = sqrt(1.0 - e2 * s * s);
    return (th_point){a * (1.0 - e2) / (w * w * w), a / w};
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// The median: a few long lines that leave the map do not move it. Five digits tell a metre.
static double middle_of(const th_drawing *d, double *sorted, int axis) {
    for (int k = 0; k < d->point_count; ++k) sorted[k] = axis ? d->points[k].y : d->points[k].x;
    qsort(sorted, (size_t)d->point_count, sizeof *sorted, by_size);
    return round(sorted[d->point_count / 2] * 1e5) / 1e5;
}

static bool to_metres(reader *r, const double *origin) {
    const double degree = 0.017453292519943295;
    th_drawing *d = r->out;
    if (d->point_count == 0) return fails(r, "the map holds no lines and no areas");
    double *sorted = th_arena_alloc(d->arena, (size_t)d->point_count, sizeof *sorted);
    if (!sorted) return false;
    th_point middle = {middle_of(d, sorted, 0), middle_of(d, sorted, 1)};
    if (origin) middle = (th_point){origin[0], origin[1]};
    if (r->degrees && !(fabs(middle.x) <= 180.0 && fabs(middle.y) < 89.0))
        return fails(r, "its longitudes and latitudes are not on the earth");
    th_point radii = radii_at(middle.y * degree);
    for (int k = 0; k < d->point_count; ++k) {
        th_point *p = &d->points[k];
        p->x -= middle.x, p->y -= middle.y;
        if (!r->degrees) continue;
        p->x *= degree * radii.y * cos(middle.y * degree);
        p->y *= degree * radii.x;
    }
    d->origin = (th_point){middle.x, middle.y};
    d->has_origin = true;
    return true;
}

th_result th_gis_take(th_drawing *drawing, th_arena *arena, const char *database,
                      const double *origin, th_error *error) {
    *drawing = (th_drawing){.arena = arena, .unit = 1.0, .outdoors = true};
    *error = (th_error){.code = TH_OK};
    reader r = {.out = drawing, .error = error, .geometry = {.arena = arena}};
    if (sqlite3_open_v2(database, &r.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        fails(&r, "the converted map cannot be opened");
    } else if (!th_geometry_open(&r.geometry) ||
               !(r.wkb = GEOSWKBReader_create_r(r.geometry.geos))) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for the map");
    } else if (!read_tables(&r) || !to_metres(&r, origin)) {
        if (error->code == TH_OK) th_fail(error, TH_NO_MEMORY, "", "no memory for the map");
    }
    if (r.wkb) GEOSWKBReader_destroy_r(r.geometry.geos, r.wkb);
    th_geometry_close(&r.geometry);
    sqlite3_close(r.db);
    return error->code;
}

// ---- ogr2ogr

// OpenStreetMap files may be packed, and some name their encoding as GDAL does not know it: a plain copy, or NULL.
static const char *plain_copy(const char *path, char *copy, th_error *error) {
    enum { PIECE = 1 << 16 };
    static char bytes[PIECE];
    gzFile in = gzopen(path, "rb");
    FILE *out = in ? fopen(copy, "wb") : NULL;
    long long total = 0;
    int got = 0;
    while (out && total < TEXT_MOST && (got = gzread(in, bytes, PIECE)) > 0) {
        char *odd = NULL;
        for (int k = 0; total == 0 && !odd && k < got - 6 && k < 100; ++k)
            if (strncmp(bytes + k, "'utf8'", 6) == 0 || strncmp(bytes + k, "\"utf8\"", 6) == 0)
                odd = bytes + k;
        if (odd) {
            fwrite(bytes, 1, (size_t)(odd - bytes), out);
            fputs("'UTF-8'", out);
            fwrite(odd + 6, 1, (size_t)(bytes + got - odd) - 6, out);
        } else {
            fwrite(bytes, 1, (size_t)got, out);
        }
        total += got;
    }
    bool good = out && got >= 0 && !ferror(out);
    if (in) gzclose(in);
    if (out && fclose(out) != 0) good = false;
    if (!good) th_fail(error, TH_NO_FILE, "", "the map cannot be read or unpacked");
    return good ? copy : NULL;
}

static bool ends_in(const char *text, const char *end) {
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcasecmp(text + length - size, end) == 0;
}

static th_result convert(const char *path, const char *database, th_error *error) {
    const char *const words[] = {
        "ogr2ogr", "-f", "SQLite", "-lco", "FORMAT=WKB", "-dim", "XY",
        // Maps drawn by hand have numbers below 0, which its own index refuses.
        "--config", "OSM_USE_CUSTOM_INDEXING", "NO",
        // Files of these drivers, which know them by their content, name other files to read.
        "--config", "GDAL_SKIP", "OGR_VRT,VRT", database, path, NULL};
    th_program_end end;
    th_result result = th_program_run(words, &end, error);
    free(end.out);
    if (result != TH_OK) return result;
    if (end.missing)
        return th_fail(error, TH_NO_FILE, "",
                       "maps are read by GDAL's program ogr2ogr, which is not here. Install it: "
                       "`apt install gdal-bin`, `dnf install gdal` or `brew install gdal`");
    if (end.code != 0)
        return th_fail(error, TH_BAD_SCENE, "", "ogr2ogr cannot read the map: %.300s",
                       *end.said ? end.said : "it gave up");
    return TH_OK;
}

th_result th_gis_read(th_drawing *drawing, th_arena *arena, const char *path, const double *origin,
                      th_error *error) {
    const char *place = getenv("TMPDIR");
    char folder[PATH_MOST], copy[PATH_MOST + 20], database[PATH_MOST + 20];
    snprintf(folder, sizeof folder, "%.200s/throng-map-XXXXXX", place && *place ? place : "/tmp");
    th_result result = th_file_check_plain(path, error);
    if (result != TH_OK) return result;
    if (!mkdtemp(folder))
        return th_fail(error, TH_NO_FILE, "", "no folder for the converted map under %.200s",
                       folder);
    snprintf(copy, sizeof copy, "%s/map.osm", folder);
    snprintf(database, sizeof database, "%s/map.sqlite", folder);
    bool open_map = ends_in(path, ".osm") || ends_in(path, ".osm.gz");
    const char *from = open_map ? plain_copy(path, copy, error) : path;
    result = from ? convert(from, database, error) : error->code;
    if (result == TH_OK) result = th_gis_take(drawing, arena, database, origin, error);
    unlink(copy);
    unlink(database);
    rmdir(folder);
    return result;
}
