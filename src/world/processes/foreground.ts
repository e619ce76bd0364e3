import { failure } from "../../model/ending.ts"
import type { CommandSpec, CommandWatch, FinishedCommand, SandboxLayer } from "../../model/processes.ts"
import type { OnBytes, Running } from "./command.ts"
import { KeptText } from "./kept-text.ts"
import type { Spool } from "./spool.ts"

/** Characters of each stream that are kept, half of them from its beginning and half from its end. */
const mostKept = 10 * 1024 * 1024

export interface Starting {
  begin(spec: CommandSpec, onBytes: OnBytes): Promise<Running>
  layer(network: boolean): SandboxLayer
  spool(): Spool
}

/** Runs a command to its end, or until its time or its caller's patience is over. */
export async function runToEnd(
  spec: CommandSpec,
  { signal, onOutput }: CommandWatch,
  { begin, layer, spool: newSpool }: Starting,
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
    const isOutOfTime = endInTime(running, spec.timeoutMs)
    const stop = () => void running.end()
    signal?.addEventListener("abort", stop)
    if (signal?.aborted) stop()
    const exit = await running.over
    signal?.removeEventListener("abort", stop)
    if (signal?.aborted) throw stopped()
    const { stdout, stderr } = texts
    const printed = { stdout: stdout.text(), stderr: stderr.text() }
    const dropped = stdout.dropped + stderr.dropped
    const finished = { ...printed, ...exit, dropped, timedOut: isOutOfTime(), sandbox: layer(spec.network ?? false) }
    const durationMs = Math.round(performance.now() - startedAt)
    if (dropped > 0) return { ...finished, durationMs, whole: spool.take() }
    spool.drop()
    return { ...finished, durationMs }
  } catch (error) {
    spool.drop()
    throw error
  }
}

/** Ends a command when its time is over; tells whether that was so. */
export function endInTime(running: Running, timeoutMs: number | undefined): () => boolean {
  if (timeoutMs === undefined) return () => false
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    void running.end()
  }, timeoutMs)
  void running.over.then(() => clearTimeout(timer))
  return () => isOver
}

const newText = () => new KeptText({ first: mostKept / 2, last: mostKept / 2 })

const stopped = () => failure("The command was stopped.", { toolCode: "command_stopped" })
