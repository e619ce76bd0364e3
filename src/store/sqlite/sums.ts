import type { AuditEntry, StepEntry } from "../../core/audit-entry.ts"
import type { Reason } from "../../core/reason.ts"
import { isVote } from "../../core/vote-text.ts"
import type { Database } from "./database.ts"
import { parseFrames } from "./frames.ts"

/*
 * Sums of the audit log, so that charts need not read a million calls. They change in the transaction that adds or drops
 * the lines they are made of.
 *
 * hour_sums: how many calls ended how in an hour, by agent and tool; an empty agent or tool stands for all of them.
 * rule_hours: how many calls a rule gave a reason for. waits: each question to a person, with its answer.
 */

export const hourMs = 3_600_000

/** Milliseconds to two digits: the percentiles of an hour are at most a tenth too low. */
export const bucketOf = (ms: string) =>
  `case when ${ms} < 100 then ${ms} when ${ms} < 1000 then ${ms} / 10 * 10 when ${ms} < 10000 then ${ms} / 100 * 100
   when ${ms} < 100000 then ${ms} / 1000 * 1000 when ${ms} < 1000000 then ${ms} / 10000 * 10000
   else ${ms} / 100000 * 100000 end`

/** Adds the rows of ended calls with these places to the sums, or takes them off. The rows are read once. */
function sumEnded(database: Database, [from, to]: readonly [number, number], sign: 1 | -1): void {
  database
    .prepare(
      `with each_pair as materialized (
         select agent, tool, at / ${hourMs} as hour, ending, ${bucketOf("duration_ms")} as bucket, count(*) as count, sum(duration_ms) as ms
         from ended where place between ? and ? group by 1, 2, 3, 4, 5),
       all_sums as (
         select * from each_pair
         union all select agent, '', hour, ending, bucket, count, ms from each_pair
         union all select '', tool, hour, ending, bucket, count, ms from each_pair
         union all select '', '', hour, ending, bucket, count, ms from each_pair)
       insert into hour_sums (agent, tool, hour, ending, bucket, count, ms)
       select agent, tool, hour, ending, bucket, ${sign} * sum(count), ${sign} * sum(ms) from all_sums group by 1, 2, 3, 4, 5
       on conflict do update set count = count + excluded.count, ms = ms + excluded.ms`,
    )
    .run(from, to)
}

/** Adds a segment's lines to the sums. Call it after its rows were inserted. */
export function addSums(database: Database, range: readonly [number, number], counted: SegmentCounts): void {
  sumEnded(database, range, 1)
  writeRules(database, counted.rules, 1)
  for (const step of counted.steps) writeStep(database, step)
  if (hasOpenWaits(database))
    database
      .prepare(
        `delete from waits where answered_at is null
         and exists (select 1 from ended where ended.call = waits.call and ended.place between ? and ?)`,
      )
      .run(...range)
}

/** Takes everything up to the place `to` off the sums. Call it before its rows are deleted. */
export function removeSums(database: Database, [from, to]: readonly [number, number]): void {
  sumEnded(database, [from, to], -1)
  database.exec("delete from hour_sums where count <= 0")
  for (const text of segmentTexts(database, from, to)) writeRules(database, countLines(text).rules, -1)
  database.exec("delete from rule_hours where count <= 0")
  database.prepare("delete from waits where call in (select call from ended where place between ? and ?)").run(from, to)
}

/** Makes all sums anew from the log, after a migration. */
export function rebuildSums(database: Database): void {
  database.exec("delete from hour_sums; delete from rule_hours; delete from waits")
  sumEnded(database, [0, Number.MAX_SAFE_INTEGER], 1)
  for (const text of segmentTexts(database, 0, Number.MAX_SAFE_INTEGER)) {
    const { rules, steps } = countLines(text)
    writeRules(database, rules, 1)
    for (const step of steps) writeStep(database, step)
  }
  database.exec("delete from waits where answered_at is null and call in (select call from ended)")
}

function* segmentTexts(database: Database, from: number, to: number): Generator<string> {
  const next = database.prepare("select place, text from segments where place between ? and ? order by place limit 1")
  for (let place = from; ;) {
    const row = next.get(place, to) as { place: number; text: string } | undefined
    if (row === undefined) return
    yield row.text
    place = row.place + 1
  }
}

/** Numbers from the lines of a segment that are in no row of ended calls. */
export interface SegmentCounts {
  /** The number of calls of an hour that each rule gave a reason for, by `<hour> <rule>`. */
  rules: Map<string, number>
  steps: StepEntry[]
}

export function noCounts(): SegmentCounts {
  return { rules: new Map(), steps: [] }
}

const waitKinds: ReadonlySet<string> = new Set(["asked", "held", "answered", "released", "withheld"])

/** Reports whether a line may have a reason that a rule gave. Others need not be parsed. */
export function mayNameRule(line: string): boolean {
  return line.includes('"params":{"rule":"')
}

export function countEntry({ rules, steps }: SegmentCounts, entry: AuditEntry): void {
  if (entry.kind === "start" || entry.kind === "end") {
    for (const { params, check } of (entry.reasons ?? []) as readonly Reason[]) {
      if (check !== "rule" || typeof params?.["rule"] !== "string") continue
      const key = `${Math.floor(entry.at / hourMs)} ${params["rule"]}`
      rules.set(key, (rules.get(key) ?? 0) + 1)
    }
  } else if (waitKinds.has(entry.kind) && !isVote(entry)) steps.push(entry)
}

function countLines(text: string): SegmentCounts {
  const counts = noCounts()
  for (const { lines } of parseFrames(text))
    for (const line of lines)
      if (mayNameRule(line) || !(line.includes('"kind":"start"') || line.includes('"kind":"end"'))) {
        const entry = readEntry(line)
        if (entry !== undefined) countEntry(counts, entry)
      }
  return counts
}

function readEntry(line: string): AuditEntry | undefined {
  try {
    return JSON.parse(line) as AuditEntry
  } catch {
    return undefined
  }
}

function writeRules(database: Database, rules: ReadonlyMap<string, number>, sign: 1 | -1): void {
  if (rules.size === 0) return
  const add = database.prepare(
    "insert into rule_hours (hour, rule, count) values (?, ?, ?) on conflict do update set count = count + excluded.count",
  )
  for (const [key, count] of rules) {
    const [hour = "", rule = ""] = key.split(" ")
    add.run(Number(hour), rule, sign * count)
  }
}

/** A question and its answer may come in any order: two processes write them. */
function writeStep(database: Database, { callId, kind, at, agentId = "", tool = "" }: StepEntry): void {
  const isQuestion = kind === "asked" || kind === "held"
  const [own, other, order] = isQuestion ? ["asked_at", "answered_at", ">="] : ["answered_at", "asked_at", "<="]
  const found = database
    .prepare(
      `update waits set ${own} = ?2 where id = (select id from waits
         where call = ?1 and ${own} is null and ${other} ${order} ?2 order by id limit 1)`,
    )
    .run(callId, at)
  if (Number(found.changes) > 0) return
  const isOpen = database.prepare("select 1 from waits where call = ? and answered_at is null").get(callId)
  if (isQuestion && isOpen !== undefined) return
  database.prepare(`insert into waits (call, agent, tool, ${own}) values (?, ?, ?, ?)`).run(callId, agentId, tool, at)
}

function hasOpenWaits(database: Database): boolean {
  return database.prepare("select 1 from waits where answered_at is null limit 1").get() !== undefined
}
