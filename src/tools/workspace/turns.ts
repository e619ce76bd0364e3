/** One change of a file after the other, by its real path: what two agents do at once is done one after the other. */
export interface Turns {
  take<T>(path: string, work: () => Promise<T>): Promise<T>
}

export function turns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return {
    async take(path, work) {
      const before = last.get(path) ?? Promise.resolve()
      const mine = before.then(work, work)
      last.set(path, mine)
      try {
        return await mine
      } finally {
        if (last.get(path) === mine) last.delete(path)
      }
    },
  }
}
