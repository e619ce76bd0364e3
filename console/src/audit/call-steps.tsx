import { useQuery } from "@tanstack/react-query"
import { Answers } from "../steps/answers.tsx"
import { Checks } from "../steps/checks.tsx"
import { Step } from "../steps/step-list.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { toolsQuery } from "../tools/queries.ts"
import { Marked } from "../ui/marked.tsx"
import { ValueView } from "../ui/value-view.tsx"
import { clockTime, tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { recordedValue, type CallRecord } from "./call-facts.ts"

/** The seven steps of a recorded call, each with what happened in it. */
export function CallSteps({ record }: { record: CallRecord }) {
  const words = useWords()
  const { facts, start, end, steps, reasons, result, waited, ranMs } = record
  const ticks = ticksOf(facts)
  const call = start ?? end
  const id = call?.version === undefined ? undefined : `${call.layer ?? "system"}:${record.tool}@${call.version}`
  const isRefused = ticks.visible === "refused" || ticks.allowed === "refused"
  const verdict = isRefused ? "deny" : facts.asked ? "ask" : "allow"
  const decided = reasons.map(
    (reason) => ({ ...reason, verdict: reason.shadow === undefined ? verdict : "pass" }) as const,
  )
  const between = steps.filter(({ kind }) => kind === "try" || kind === "late" || kind === "note")
  const error =
    end?.error === undefined ? undefined : (
      <p>
        <span className="dim">{words.steps.error}</span>
        {words.audit.colon}
        {end.error}
      </p>
    )
  const time = (ms: number) => (ms > 0 ? tookText(ms, words) : undefined)
  return (
    <ol className="steps">
      <Step name="resolve" tick={ticks.resolve}>
        {ticks.resolve === "done" && id !== undefined && (
          <p>
            <Marked text={words.steps.resolved(record.tool, id)} />
          </p>
        )}
        {ticks.resolve !== "done" && error}
      </Step>
      <Step name="visible" tick={ticks.visible}>
        {ticks.visible === "refused" && (decided.length > 0 ? <Checks checks={decided} /> : error)}
        {ticks.visible === "done" && (
          <p>
            <Marked
              text={
                call?.role === undefined
                  ? words.steps.visibleTo(record.agentId)
                  : words.steps.visibleByRole(record.agentId, call.role)
              }
            />
          </p>
        )}
      </Step>
      <Step name="validate" tick={ticks.validate}>
        {ticks.validate === "done" && <p>{words.steps.inputRight}</p>}
        {ticks.validate === "failed" && error}
      </Step>
      <Step name="allowed" tick={ticks.allowed === "done" && facts.asked ? "asked" : ticks.allowed}>
        {ticks.allowed !== "open" && decided.length > 0 && (
          <>
            {facts.asked && ticks.allowed === "done" && (
              <p>
                <Marked text={words.steps.decidedAsk(decided.length)} />
              </p>
            )}
            <Checks checks={decided} />
          </>
        )}
        {ticks.allowed !== "open" && decided.length === 0 && facts.asked && <Asked record={record} />}
        {ticks.allowed === "done" && decided.length === 0 && !facts.asked && <NothingObjected record={record} />}
        {ticks.allowed === "refused" && error}
      </Step>
      <Step name="approve" tick={ticks.approve} time={time(waited.asked)}>
        {ticks.approve === "skipped" && <p>{words.steps.nobodyAsked}</p>}
        <Answers entries={steps} kinds={["answered"]} />
        {(ticks.approve === "no" || ticks.approve === "failed") && error}
      </Step>
      <Step name="run" tick={ticks.run} time={time(ranMs)}>
        {between.map(({ at, kind, text }) => (
          <p key={`${at} ${text}`}>
            <time className="dim num">{clockTime(at)}</time> {words.audit.entry[kind]}
            {words.audit.colon}
            {text}
          </p>
        ))}
        {(ticks.run === "failed" || ticks.run === "refused") && error}
        {result !== undefined && (
          <ValueView value={recordedValue(result)} label={words.audit.result} agentId={record.agentId} />
        )}
      </Step>
      <Step name="release" tick={ticks.release} time={time(waited.held)}>
        {ticks.release === "skipped" && <p>{words.steps.notHeld}</p>}
        <Answers entries={steps} kinds={["released", "withheld"]} />
        {ticks.release === "no" && error}
      </Step>
    </ol>
  )
}

/** Why it ran unasked. The effect is that of the tool today, said only where it is still the version that ran. */
function NothingObjected({ record: { tool, start, end } }: { record: CallRecord }) {
  const words = useWords()
  const { data } = useQuery(toolsQuery)
  const { version, layer = "system" } = start ?? end ?? {}
  const same = data?.find((each) => each.name === tool && each.version === version && each.layer === layer)
  const effect = same?.effect === "none" || same?.effect === "read" ? same.effect : undefined
  return (
    <p>
      <Marked text={effect === undefined ? words.steps.nothingObjected : words.steps.runsUnasked(tool, effect)} />
    </p>
  )
}

/** Why a person was asked, as it was written when they were. */
function Asked({ record: { steps } }: { record: CallRecord }) {
  return steps.filter(({ kind }) => kind === "asked").map(({ at, text }) => <p key={at}>{text}</p>)
}
