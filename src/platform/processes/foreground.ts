import { failure } from "../../core/ending.ts"
import type { CommandSpec, CommandWatch, FinishedCommand, SandboxLayer } from "./process-access.ts"
import type { OutputListener, RunningCommand } from "./launch-command.ts"
import { BoundedText } from "./bounded-text.ts"
import type { Spool } from "./spool.ts"

/** Characters to keep of each stream, half from its beginning and half from its end. */
const maxKept = 10 * 1024 * 1024

export interface CommandStarter {
  begin(spec: CommandSpec, onBytes: OutputListener): Promise<RunningCommand>
  layer(network: boolean): SandboxLayer
  spool(): Spool
}

/** Runs a command until it ends, times out or is aborted. */
export async function runToEnd(
  spec: CommandSpec,
  { signal, onOutput }: CommandWatch,
  { begin, layer, spool: newSpool }: CommandStarter,
): Promise<FinishedCommand> {
  if (signal?.aborted) throw stopped()
  const texts = { stdout: newText(), stderr: newText() }
  const spool = newSpool()
  const startedAt = performance.now()
  try {
    const running = await begin(spec, (stream, bytes, text) => {
      spool.add(bytes)
      if (text === "") return
      texts[stream].add(text)
      onOutput?.({ stream, text })
    })
    const hasTimedOut = endAfterTimeout(running, spec.timeoutMs)
    const stop = () => void running.end()
    signal?.addEventListener("abort", stop)
    if (signal?.aborted) stop()
    const exit = await running.ended
    signal?.removeEventListener("abort", stop)
    if (signal?.aborted) throw stopped()
    const { stdout, stderr } = texts
    const printed = { stdout: stdout.text(), stderr: stderr.text() }
    const dropped = stdout.dropped + stderr.dropped
    const finished = { ...printed, ...exit, dropped, timedOut: hasTimedOut(), sandbox: layer(spec.network ?? false) }
    const durationMs = Math.round(performance.now() - startedAt)
    if (dropped > 0) return { ...finished, durationMs, whole: spool.take() }
    spool.drop()
    return { ...finished, durationMs }
  } catch (error) {
    spool.drop()
    throw error
  }
}

/** Ends a command at its timeout. The returned function tells whether that happened. */
export function endAfterTimeout(running: RunningCommand, timeoutMs: number | undefined): () => boolean {
  if (timeoutMs === undefined) return () => false
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    void running.end()
  }, timeoutMs)
  void running.ended.then(() => clearTimeout(timer))
  return () => timedOut
}

const newText = () => new BoundedText({ first: maxKept / 2, last: maxKept / 2 })

const stopped = () => failure("The command was stopped.", { toolCode: "command_stopped" })
