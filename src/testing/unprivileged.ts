/** Runs the work without root's rights, when the tests run as root. `prepare` first gives access to what the work needs. */
export function asUnprivileged<T>(prepare: () => void, work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  prepare()
  process.setegid!(65534)
  process.seteuid!(65534)
  const restore = () => {
    process.seteuid!(0)
    process.setegid!(0)
  }
  let isAsync = false
  try {
    const result = work()
    isAsync = result instanceof Promise
    return isAsync ? ((result as Promise<unknown>).finally(restore) as T) : result
  } finally {
    if (!isAsync) restore()
  }
}
