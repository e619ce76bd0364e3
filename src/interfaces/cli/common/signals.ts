/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP; a second one exits with the shell's exit code for that signal.
 * `interrupt` does what SIGINT does, for a Ctrl-C that was read as a key.
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
    return { listener, stop: () => process.off(signal, listener) }
  }
  const all = [listen("SIGINT", 130), listen("SIGTERM", 143), listen("SIGHUP", 129)] as const
  return { controller, interrupt: all[0].listener, stop: () => all.forEach(({ stop }) => stop()) }
}
