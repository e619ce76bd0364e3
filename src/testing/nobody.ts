/** Root may do everything, so that its rights are put down for the time of the work; `prepare` gives others what they need. */
export function asNobody<T>(prepare: () => void, work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  prepare()
  process.setegid!(65534)
  process.seteuid!(65534)
  const restore = () => {
    process.seteuid!(0)
    process.setegid!(0)
  }
  let isLater = false
  try {
    const result = work()
    isLater = result instanceof Promise
    return isLater ? ((result as Promise<unknown>).finally(restore) as T) : result
  } finally {
    if (!isLater) restore()
  }
}
