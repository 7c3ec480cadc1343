/* libpng with memory by callbacks. libpng passes its own struct to them and reports errors by longjmp, which must not pass managed frames:
   both stay in here. Built by build-png-shim.sh. */
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    void *context;
    void *(*allocate)(void *context, size_t size);
    void (*free)(void *context, void *address);
} callbacks;

typedef struct {
    const uint8_t *data;
    size_t left;
    volatile int refused; /* read after a longjmp */
    callbacks memory;
} reader;

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    reader *r = png_get_mem_ptr(png);
    void *memory = r->memory.allocate(r->memory.context, size);
    r->refused |= memory == NULL;
    return memory;
}

static void release(png_structp png, png_voidp address)
{
    reader *r = png_get_mem_ptr(png);
    r->memory.free(r->memory.context, address);
}

static void read_data(png_structp png, png_bytep target, size_t length)
{
    reader *r = png_get_io_ptr(png);
    if (length > r->left)
        png_error(png, "the file ends too early");
    memcpy(target, r->data, length);
    r->data += length;
    r->left -= length;
}

static void ignore(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void destroy(png_structp png, png_infop info)
{
    png_destroy_read_struct(&png, &info, NULL);
}

/* Decodes to 8-bit RGBA. rows is null to learn the size alone. Returns 0, 1 where the file is damaged, 2 where memory was refused. */
int allocator_png_decode(
    const uint8_t *data, size_t length, const callbacks *memory, uint32_t *width, uint32_t *height, uint8_t **rows)
{
    reader r = { data, length, 0, *memory };
    png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore, &r, allocate, release);
    png_infop volatile info = NULL;
    if (png == NULL)
        return r.refused ? 2 : 1;
    if (setjmp(png_jmpbuf(png))) {
        destroy(png, info);
        return r.refused ? 2 : 1;
    }
    info = png_create_info_struct(png);
    if (info == NULL)
        png_error(png, "out of memory");
    png_set_read_fn(png, &r, read_data);
    png_read_info(png, info);
    *width = png_get_image_width(png, info);
    *height = png_get_image_height(png, info);
    if (rows != NULL) {
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_gray_to_rgb(png);
        png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
        png_read_update_info(png, info);
        png_read_image(png, rows);
    }
    destroy(png, info);
    return 0;
}
