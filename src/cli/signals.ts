/** Aborts on the first SIGINT, SIGTERM or SIGHUP; a second one exits with the shell's exit code for that signal. */
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
