/**
 * Cancels on the first Ctrl-C or SIGTERM, or when the terminal is gone; the second one leaves at once with the shell's
 * code for that signal.
 */
export function cancelOnSignal(leave: (code: number) => void, announce: () => void) {
  const controller = new AbortController()
  const listen = (signal: "SIGINT" | "SIGTERM" | "SIGHUP", code: number) => {
    const listener = () => {
      if (controller.signal.aborted) return leave(code)
      controller.abort()
      announce()
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  }
  const stops = [listen("SIGINT", 130), listen("SIGTERM", 143), listen("SIGHUP", 129)]
  return { controller, stop: () => stops.forEach((stop) => stop()) }
}
