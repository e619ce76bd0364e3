import { randomBytes } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from "node:fs" // prettier-ignore
import type { ReadMarkLog, ReadMark } from "./file-access.ts"

export interface OpenReadMarkLog extends ReadMarkLog {
  /** Writes pending marks; later marks are written immediately. */
  close(): void
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/**
 * Records the versions of files each agent has read, in one file that all processes append to. Marks are written in
 * batches and read only before a change, so that reading files stays fast. Other processes see marks one batch later. A
 * crash or a full disk can lose marks; then the agent counts as not having read the file.
 */
export function openReadMarkLog(path: string, { maxBytes = 1024 * 1024, batchMs = 100 } = {}): OpenReadMarkLog {
  let pending: ReadMark[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let position: Position = { file: 0n, offset: 0 }

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (pending.length === 0) return
    // Begins with an empty line, so that a line left half-written by a killed process does not spoil this one.
    const text = `\n${pending.map(lineOf).join("\n")}\n`
    pending = []
    quietly(() => {
      if (append(path, text) > maxBytes) truncateToTail(path, maxBytes / 2)
    })
  }

  return {
    add(mark) {
      pending.push(mark)
      if (closed) flush()
      else timer ??= setTimeout(flush, batchMs).unref()
    },
    readNew() {
      flush()
      let text = ""
      quietly(() => ({ text, position } = readFrom(path, position)))
      return text.split("\n").flatMap(markIn)
    },
    close() {
      closed = true
      flush()
    },
  }
}

/** Returns the size of the file afterwards. */
function append(path: string, text: string): number {
  return withRegularFile(path, O_WRONLY | O_APPEND | O_CREAT, (file) => {
    writeSync(file, text)
    return fstatSync(file).size
  })
}

/** Replaces the file by its newest part. A mark that another process adds at this moment may be lost. */
function truncateToTail(path: string, bytes: number): void {
  const whole = withRegularFile(path, O_RDONLY, (file) => readFileSync(file))
  const tail = whole.subarray(whole.length - bytes)
  const next = `${path}.${randomBytes(6).toString("hex")}`
  writeFileSync(next, tail.subarray(tail.indexOf(10) + 1), { mode: 0o600, flag: "wx" })
  renameSync(next, path)
}

/** Opens only a regular file: follows no link and blocks on no pipe. */
function withRegularFile<T>(path: string, flags: number, work: (file: number) => T): T {
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a regular file.`)
    return work(file)
  } finally {
    closeSync(file)
  }
}

interface Position {
  /** The inode, because the file is replaced now and then. */
  readonly file: bigint
  readonly offset: number
}

/** Reads the complete lines added since the last read. */
function readFrom(path: string, last: Position): { text: string; position: Position } {
  return withRegularFile(path, O_RDONLY, (file) => {
    const { ino, size } = fstatSync(file, { bigint: true })
    const offset = ino === last.file && size >= last.offset ? last.offset : 0
    const bytes = Buffer.allocUnsafe(Number(size) - offset)
    const count = readSync(file, bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, count).lastIndexOf(10) + 1
    return { text: bytes.toString("utf8", 0, end), position: { file: ino, offset: offset + end } }
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

/** Without the file, this process still knows its own marks. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The next batch tries again.
  }
}
