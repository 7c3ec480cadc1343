/* What malloc keeps of what codecs took, and whether a container survives it. The command `retention` builds it with glibc and with musl.

   retention jpeg|blocks SIZE THREADS AT-ONCE ROUNDS THEN: each thread works ROUNDS times, AT-ONCE of them at a time, as jobs of a thread
   pool do. Afterwards THEN megabytes are written, which is what the next work needs.
   jpeg: decodes a progressive photograph of SIZE x SIZE pixels with libjpeg-turbo, into memory that is mapped, as pooled memory is.
   blocks: takes SIZE blocks of 4 to 100 KB, and a small one beside each tenth that stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PIXEL_RGB = 0, SUBSAMPLING_420 = 2, FLAG_PROGRESSIVE = 16384 };

/* Of libjpeg-turbo, which has no header here. */
void *tjInitCompress(void);
void *tjInitDecompress(void);
int tjCompress2(void *, const unsigned char *, int, int, int, int, unsigned char **, unsigned long *, int, int, int);
int tjDecompress2(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
int tjDestroy(void *);
void tjFree(unsigned char *);

static int is_jpeg, size, rounds;
static sem_t at_once;
static unsigned char *picture;
static unsigned long picture_length;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static long status(const char *key)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), ": %ld", &kilobytes);
    }
    fclose(file);
    return kilobytes * 1024;
}

static void *map(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) fail("mmap");
    return mapped;
}

static void draw(void)
{
    size_t bytes = (size_t)size * size * 3;
    unsigned char *pixels = map(bytes), *compressed = NULL;
    unsigned long length = 0;
    for (size_t i = 0; i < bytes; i++) pixels[i] = (unsigned char)((i >> 9) ^ (i * 2654435761u >> 29));
    void *handle = tjInitCompress();
    if (tjCompress2(handle, pixels, size, 0, size, PIXEL_RGB, &compressed, &length, SUBSAMPLING_420, 80, FLAG_PROGRESSIVE) != 0) fail("compress");
    picture = map(length);
    picture_length = length;
    memcpy(picture, compressed, length);
    tjFree(compressed);
    tjDestroy(handle);
    munmap(pixels, bytes);
}

static void decode(void)
{
    size_t bytes = (size_t)size * size * 3;
    unsigned char *pixels = map(bytes);
    void *handle = tjInitDecompress();
    if (tjDecompress2(handle, picture, picture_length, pixels, size, 0, size, PIXEL_RGB, 0) != 0) fail("decompress");
    tjDestroy(handle);
    munmap(pixels, bytes);
}

static void take_blocks(unsigned *seed)
{
    void **taken = calloc((size_t)size, sizeof *taken);
    for (int i = 0; i < size; i++) {
        *seed = *seed * 1103515245 + 12345;
        size_t bytes = 4096 + (*seed >> 8) % 98304;
        taken[i] = malloc(bytes);
        if (!taken[i]) fail("malloc");
        memset(taken[i], 1, bytes);
        /* It stays until the end of the process. */
        if (i % 10 == 0) memset(malloc(100), 1, 100);
    }
    for (int i = 0; i < size; i++) free(taken[i]);
    free(taken);
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    for (int round = 0; round < rounds; round++) {
        sem_wait(&at_once);
        if (is_jpeg) decode(); else take_blocks(&seed);
        sem_post(&at_once);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 7) fail("retention jpeg|blocks SIZE THREADS AT-ONCE ROUNDS THEN");
    is_jpeg = strcmp(arguments[1], "jpeg") == 0;
    size = atoi(arguments[2]);
    int threads = atoi(arguments[3]);
    rounds = atoi(arguments[5]);
    size_t then = (size_t)atol(arguments[6]) << 20;
    sem_init(&at_once, 0, (unsigned)atoi(arguments[4]));
    if (is_jpeg) draw();
    printf("before %ld\n", status("VmRSS"));

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_t *started = calloc((size_t)threads, sizeof *started);
    for (int i = 0; i < threads; i++) {
        if (pthread_create(started + i, &attributes, work, (void *)(size_t)i) != 0) fail("pthread_create");
    }
    for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
    printf("most %ld\n", status("VmHWM"));
    printf("after %ld\n", status("VmRSS"));
    fflush(stdout);

    unsigned char *next = map(then);
    for (size_t i = 0; i < then; i += 4096) next[i] = 1;
    munmap(next, then);

    int (*trim)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "malloc_trim");
    if (trim) {
        trim(0);
        printf("trimmed %ld\n", status("VmRSS"));
    }
    return 0;
}
