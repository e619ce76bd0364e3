/** The numbers that the main thread and the mover thread share. Counts wrap at 32 bits; only differences are used. */
export const cell = {
  /** Lines in the journal. */
  written: 0,
  /** Lines in the table. */
  moved: 1,
  /** 0 nothing, 1 move everything and report it, 2 the same and exit. */
  command: 2,
  /** 1 while the mover sleeps and wants to be woken. */
  asleep: 3,
  /** 1 while the table cannot be written, 2 when the journal file was removed. */
  failed: 4,
} as const

export const cellCount = 5
