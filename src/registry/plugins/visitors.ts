import type { Visitors } from "./tools.ts"

export interface Visiting extends Visitors {
  /** Resolves when nobody is inside, or after that many milliseconds. */
  idle(milliseconds: number): Promise<void>
}

/** Counts who is inside a plugin. */
export function visitors(): Visiting {
  let inside = 0
  let empty: () => void = () => {}
  return {
    enter() {
      inside++
      let isInside = true
      return () => {
        if (!isInside) return
        isInside = false
        if (--inside === 0) empty()
      }
    },
    async idle(milliseconds) {
      if (inside === 0) return
      const out = new Promise<void>((resolve) => (empty = resolve))
      await within(milliseconds, out, "").catch(() => {})
    },
  }
}

/** Rejects when the work is not done in time: `<what> within 10 s.` */
export async function within<T>(milliseconds: number, work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const sentence = `${what} within ${milliseconds / 1000} s.`
    timer = setTimeout(() => reject(new Error(sentence)), milliseconds)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
