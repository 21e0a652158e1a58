/* Runs a model on a chip in QEMU and says through the debugger what it found: the outputs of all
   rows bit by bit, the bytes of stack that a prediction takes, and the time of all predictions,
   which under `-icount shift=0` is a count of instructions. */
#include <stdint.h>
#include "rows.h"
#ifndef WITHOUT_MODEL
#include "model.h"
#endif

extern uint32_t stack_top;
int main(void);

void reset(void)
{
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* lets the floating-point unit work */
    __asm volatile("dsb\n isb");
#endif
    main();
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[2] = {
    &stack_top, (void *)reset
};

static void call(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void tell(char name, uint32_t value)
{
    char text[12];
    int i;
    text[0] = name;
    for (i = 0; i < 8; i++) {
        uint32_t digit = (value >> (28 - 4 * i)) & 15u;
        text[i + 1] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    text[9] = '\n';
    text[10] = 0;
    call(4, text);
}

/* Not inlined, so that the same code is judged, counted and measured. */
__attribute__((noinline)) static int predict(const float *x)
{
#ifdef WITHOUT_MODEL
    return x[0] != 0;
#else
    return model_class(x);
#endif
}

__attribute__((noinline)) static void outputs(const float *x)
{
#ifdef WITHOUT_MODEL
    (void)x;
#else
    union { float value; uint32_t bits; } values[MODEL_OUTPUTS];
    int o;
    model_outputs(x, &values[0].value);
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        tell('f', values[o].bits);
    }
#endif
}

/* Paints what is below the stack, predicts, and looks how far the paint is gone. */
__attribute__((noinline)) static uint32_t stack_of(const float *x)
{
    volatile uint32_t *place, *here;
    uint32_t size = 1024;
    volatile int found;
    __asm volatile("mov %0, sp" : "=r"(here));
    for (place = here - size; place < here - 1; place++) {
        *place = 0xA5A5A5A5u;
    }
    found = predict(x);
    (void)found;
    for (place = here - size; place < here - 1 && *place == 0xA5A5A5A5u; place++) {
    }
    return (uint32_t)((uintptr_t)here - (uintptr_t)place);
}

int main(void)
{
    volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010u;
    volatile int found = 0;
    uint32_t start, end;
    int i;
    for (i = 0; i < ROWS; i++) {
        outputs(rows[i]);
    }
    tell('s', stack_of(rows[0]));
    timer[1] = 0xFFFFFFu; /* counts down */
    timer[2] = 0;
    timer[0] = 5;
    start = timer[2];
    for (i = 0; i < ROWS; i++) {
        found += predict(rows[i]);
    }
    end = timer[2];
    tell('t', (start - end) & 0xFFFFFFu);
    tell('c', (uint32_t)found);
    call(0x18, (void *)0x20026);
    return 0;
}
