/** Calls a function of somebody else, sync or async, and tells when it fails. */
export function attempt(callback: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = callback()
    if (returned instanceof Promise) returned.catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}
