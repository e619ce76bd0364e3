/** Runs changes of the same path one at a time, also when several agents make them. */
export interface PathLocks {
  run<T>(path: string, work: () => Promise<T>): Promise<T>
}

export function createPathLocks(): PathLocks {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run(path, work) {
      const previous = last.get(path) ?? Promise.resolve()
      const current = previous.then(work, work)
      last.set(path, current)
      try {
        return await current
      } finally {
        if (last.get(path) === current) last.delete(path)
      }
    },
  }
}
