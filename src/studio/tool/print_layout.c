// Prints what is made from the field lists of src/studio/layout.h: `studio-layout ts` the TypeScript reader,
// `studio-layout csv` the table docs/data/studio_layout.csv. SPDX-License-Identifier: Apache-2.0
#include "studio/layout.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct field {
    const char *name, *type, *doc;
    size_t offset;
} field;

#define X(name, type, doc) {#name, #type, doc, offsetof(THIS, name)},
#define THIS th_studio_head
static const field head_fields[] = {TH_STUDIO_HEAD(X)};
#undef THIS
#define THIS th_studio_people_head
static const field people_head_fields[] = {TH_STUDIO_PEOPLE_HEAD(X)};
#undef THIS
#define THIS th_studio_person
static const field person_fields[] = {TH_STUDIO_PERSON(X)};
#undef THIS
#define THIS th_studio_map_head
static const field map_head_fields[] = {TH_STUDIO_MAP_HEAD(X)};
#undef THIS
#undef X

typedef struct layout {
    const char *name, *type, *doc;
    const field *fields;
    int field_count;
    size_t size;
} layout;

static const layout layouts[] = {
#define X(stem, Type, list, doc)                  \
    {#stem,                                       \
     #Type,                                       \
     doc,                                         \
     stem##_fields,                               \
     (int)(sizeof stem##_fields / sizeof(field)), \
     sizeof(th_studio_##stem)},
    TH_STUDIO_LAYOUTS(X)
#undef X
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const char *getter(const char *type) {
    static const char *const names[][2] = {{"u8", "getUint8"},
                                           {"u16", "getUint16"},
                                           {"u32", "getUint32"},
                                           {"f32", "getFloat32"},
                                           {"f64", "getFloat64"}};
    for (int i = 0; i < 5; ++i)
        if (strcmp(names[i][0], type) == 0) return names[i][1];
    return "?";
}

// people_head -> peopleHead
static void print_camel(const char *name) {
    for (; *name; ++name) {
        if (*name == '_' && name[1])
            putchar(toupper((unsigned char)*++name));
        else
            putchar(*name);
    }
}

static void print_reader(const layout *l) {
    printf("\n// %s\nexport interface %s {\n", l->doc, l->type);
    for (int i = 0; i < l->field_count; ++i) {
        printf("  ");
        print_camel(l->fields[i].name);
        printf(": number;%s%s\n", l->fields[i].doc[0] ? " // " : "", l->fields[i].doc);
    }
    printf("}\nexport const %s_SIZE = %zu;\n", l->type, l->size);
    printf("export const %s_OFFSETS = {\n", l->type);
    for (int i = 0; i < l->field_count; ++i) {
        printf("  ");
        print_camel(l->fields[i].name);
        printf(": %zu,\n", l->fields[i].offset);
    }
    printf("} as const;\nexport function read%s(view: DataView, at: number): %s {\n  return {\n",
           l->type, l->type);
    for (int i = 0; i < l->field_count; ++i) {
        const field *f = &l->fields[i];
        printf("    ");
        print_camel(f->name);
        printf(": view.%s(at + %zu%s),\n", getter(f->type), f->offset,
               strcmp(f->type, "u8") == 0 ? "" : ", true");
    }
    printf("  };\n}\n");
}

static void print_typescript(void) {
    printf("// Written by `build/tools/studio-layout ts` from src/studio/layout.h; do not edit.\n"
           "// SPDX-License-Identifier: Apache-2.0\n\n"
           "export const MAGIC = 0x%08x;\nexport const VERSION = %d;\nexport const NO_LEVEL = %d;\n"
           "export const NOTHING = %d;\n",
           TH_STUDIO_MAGIC, TH_STUDIO_VERSION, TH_STUDIO_NO_LEVEL, TH_STUDIO_NOTHING);
    printf("\n// Kinds of binary messages\n");
#define X(NAME, value, name, doc) printf("export const KIND_%s = %d; // %s\n", #NAME, value, doc);
    TH_STUDIO_KINDS(X)
#undef X
    for (int i = 0; i < LAYOUTS; ++i) print_reader(&layouts[i]);
}

static void print_csv(void) {
    printf("record,byte,type,field,meaning\n");
#define X(NAME, value, name, doc) printf("kind,,,%d %s,\"%s\"\n", value, #name, doc);
    TH_STUDIO_KINDS(X)
#undef X
    for (int i = 0; i < LAYOUTS; ++i) {
        const layout *l = &layouts[i];
        printf("%s,,,%zu bytes,\"%s\"\n", l->name, l->size, l->doc);
        for (int k = 0; k < l->field_count; ++k) {
            const field *f = &l->fields[k];
            printf("%s,%zu,%s,%s,\"%s\"\n", l->name, f->offset, f->type, f->name, f->doc);
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "ts") == 0)
        print_typescript();
    else if (argc == 2 && strcmp(argv[1], "csv") == 0)
        print_csv();
    else {
        fprintf(stderr, "studio-layout: say ts or csv\n");
        return 2;
    }
    return 0;
}
