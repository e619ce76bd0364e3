/** The numbers the writing thread and the moving thread share. Counts wrap at 32 bits; only differences are used. */
export const cell = {
  /** Lines in the journal. */
  written: 0,
  /** Lines in the table. */
  moved: 1,
  /** 0 nothing, 1 move everything and say so, 2 the same and end. */
  command: 2,
  /** 1 while the mover sleeps and wants to be woken. */
  asleep: 3,
  /** 1 while the table cannot be written, 2 when the journal's file is gone. */
  failed: 4,
} as const

export const cellCount = 5
