import { randomBytes } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from "node:fs" // prettier-ignore
import type { MarkLog, ReadMark } from "../../model/files.ts"

export interface OpenMarkLog extends MarkLog {
  /** Writes what was not written yet; from then on everything is written at once. */
  close(): void
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/**
 * Which version of a file each agent has seen, in a file that all processes add to. It is written in batches and read
 * only before a change, so that reading costs nothing. Marks come late to other processes by one batch. They can be lost,
 * by a kill or a full disk: then an agent counts as one that has not read the file.
 */
export function openMarkLog(path: string, { mostBytes = 1024 * 1024, batchMs = 100 } = {}): OpenMarkLog {
  let waiting: ReadMark[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let known = { file: 0n, offset: 0 }

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    // An empty line first: what a killed process left half written spoils no mark but its own.
    const text = `\n${waiting.map(lineOf).join("\n")}\n`
    waiting = []
    quietly(() => {
      if (append(path, text) > mostBytes) keepTail(path, mostBytes / 2)
    })
  }

  return {
    add(mark) {
      waiting.push(mark)
      if (closed) flush()
      else timer ??= setTimeout(flush, batchMs).unref()
    },
    news() {
      flush()
      let text = ""
      quietly(() => ({ text, known } = readOn(path, known)))
      return text.split("\n").flatMap(markIn)
    },
    close() {
      closed = true
      flush()
    },
  }
}

/** The size of the file after it. */
function append(path: string, text: string): number {
  return withPlain(path, O_WRONLY | O_APPEND | O_CREAT, (file) => {
    writeSync(file, text)
    return fstatSync(file).size
  })
}

/** What was added lately goes on in a new file. What another process adds at this moment may be lost. */
function keepTail(path: string, bytes: number): void {
  const whole = withPlain(path, O_RDONLY, (file) => readFileSync(file))
  const tail = whole.subarray(whole.length - bytes)
  const next = `${path}.${randomBytes(6).toString("hex")}`
  writeFileSync(next, tail.subarray(tail.indexOf(10) + 1), { mode: 0o600, flag: "wx" })
  renameSync(next, path)
}

/** Only a plain file is written or read: no link is followed, and no pipe waited for. */
function withPlain<T>(path: string, flags: number, work: (file: number) => T): T {
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is no plain file.`)
    return work(file)
  } finally {
    closeSync(file)
  }
}

interface Place {
  /** Which file it was, for there is another one now and then. */
  readonly file: bigint
  readonly offset: number
}

/** The whole lines from where the last reading ended. */
function readOn(path: string, known: Place): { text: string; known: Place } {
  return withPlain(path, O_RDONLY, (file) => {
    const { ino, size } = fstatSync(file, { bigint: true })
    const offset = ino === known.file && size >= known.offset ? known.offset : 0
    const bytes = Buffer.allocUnsafe(Number(size) - offset)
    const count = readSync(file, bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, count).lastIndexOf(10) + 1
    return { text: bytes.toString("utf8", 0, end), known: { file: ino, offset: offset + end } }
  })
}

function lineOf({ agentId, real, version, at }: ReadMark): string {
  return JSON.stringify([at, agentId, version, real])
}

function markIn(line: string): ReadMark[] {
  if (line === "") return []
  try {
    const [at, agentId, version, real] = JSON.parse(line) as [unknown, unknown, unknown, unknown]
    const isMark = typeof at === "number" && [agentId, version, real].every((part) => typeof part === "string")
    return isMark ? [{ at, agentId, version, real } as ReadMark] : []
  } catch {
    return []
  }
}

/** Without the file the marks of this process still count. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The next batch tries again.
  }
}
