// Preloaded by NODE_OPTIONS into a child process and its threads. Kills the process with SIGKILL, or pauses it, at the place
// that the variable FAILPOINT describes; see Failpoint in app-process.ts. The code under test does not know about it.
import { createRequire, syncBuiltinESMExports } from "node:module"
import { isMainThread } from "node:worker_threads"

const require = createRequire(import.meta.url)
const fs = require("node:fs")
const { existsSync, writeFileSync } = fs
const point = JSON.parse(process.env.FAILPOINT)
const pattern = new RegExp(point.match, "s")
const isThisThread = point.thread === undefined || point.thread === (isMainThread ? "main" : "mover")
const names = new Map()
let hits = 0

watchFiles()
watchDatabases()

/** Does the work. At the failpoint it kills the process before, in the middle of or after the work. */
function pass(on, text, work, half = work) {
  if (point.when === "before" || point.when === "half") {
    if (!isHere(on, text)) return work()
    if (point.when === "half") half()
    die()
  }
  // Work that fails because another process has the lock is retried, so only successful work counts.
  const value = work()
  if (!isHere(on, text)) return value
  if (point.when === "pause") pause()
  else die()
  return value
}

function isHere(on, text) {
  return isThisThread && point.on === on && pattern.test(text()) && existsSync(point.armed) && ++hits === point.nth
}

/** Blocks the thread while the failpoint is armed. */
function pause() {
  writeFileSync(point.fired, point.name)
  while (existsSync(point.armed)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
}

function die() {
  writeFileSync(point.fired, point.name)
  process.kill(process.pid, "SIGKILL")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

function watchFiles() {
  const { openSync, writeSync, fdatasyncSync, fdatasync, fsyncSync, unlinkSync, linkSync, ftruncateSync } = fs
  const nameOf = (descriptor) => () => names.get(descriptor) ?? ""
  const writeHalf = (descriptor, data, ...rest) => {
    if (typeof data === "string") return writeSync(descriptor, data.slice(0, data.length / 2), ...rest)
    const [offset = 0, length = data.length - offset, position = null] = rest
    return writeSync(descriptor, data, offset, Math.floor(length / 2), position)
  }
  fs.openSync = (path, ...rest) =>
    pass(
      "open",
      () => String(path),
      () => {
        const descriptor = openSync(path, ...rest)
        names.set(descriptor, String(path))
        return descriptor
      },
    )
  fs.writeSync = (descriptor, data, ...rest) =>
    pass(
      "write",
      () => `${nameOf(descriptor)()} ${String(data)}`,
      () => writeSync(descriptor, data, ...rest),
      () => writeHalf(descriptor, data, ...rest),
    )
  fs.fdatasyncSync = (descriptor) => pass("sync", nameOf(descriptor), () => fdatasyncSync(descriptor))
  fs.fsyncSync = (descriptor) => pass("sync", nameOf(descriptor), () => fsyncSync(descriptor))
  fs.fdatasync = (descriptor, done) =>
    isHere("sync", nameOf(descriptor))
      ? point.when === "after"
        ? fdatasync(descriptor, die)
        : die()
      : fdatasync(descriptor, done)
  fs.ftruncateSync = (descriptor, length) =>
    pass("truncate", nameOf(descriptor), () => ftruncateSync(descriptor, length))
  fs.unlinkSync = (path) =>
    pass(
      "remove",
      () => String(path),
      () => unlinkSync(path),
    )
  fs.linkSync = (from, to) =>
    pass(
      "link",
      () => String(to),
      () => linkSync(from, to),
    )
  syncBuiltinESMExports()
}

/** Patterns match a statement with its values, and a commit with all statements since its transaction began. */
function watchDatabases() {
  const isBuiltin = Number(process.versions.node.split(".")[0]) >= 24
  const sqlite = isBuiltin ? require("node:sqlite") : require("@photostructure/sqlite").default
  sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
    constructor(...args) {
      super(...args)
      const { exec, prepare } = this
      let statements = []
      const note = (text) => {
        statements = text.startsWith("begin") ? [] : [...statements, text]
      }
      replace(this, "exec", (sql) => {
        const isCommit = /\bcommit$/.test(sql)
        const text = () => (isCommit ? [sql, ...statements].join("\n") : sql)
        const value = pass("sql", text, () => exec.call(this, sql))
        note(sql)
        return value
      })
      replace(this, "prepare", (sql, ...rest) => {
        const statement = prepare.call(this, sql, ...rest)
        for (const name of ["run", "get", "all"]) {
          const work = statement[name]
          replace(statement, name, (...values) => {
            const text = `${sql} ${JSON.stringify(values, (_key, value) => (typeof value === "bigint" ? Number(value) : value))}`
            const value = pass(
              "sql",
              () => text,
              () => work.apply(statement, values),
            )
            note(text)
            return value
          })
        }
        return statement
      })
    }
  }
  if (isBuiltin) syncBuiltinESMExports()
}

function replace(object, name, value) {
  Object.defineProperty(object, name, { value })
}
