import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { serverNow, useServerTime } from "../api/clock.ts"
import { problemsInSentence } from "../form/problems.ts"
import { Checks, checksByStep, WhatWouldChange } from "../steps/checks.tsx"
import { Rail } from "../steps/rail.tsx"
import { Step } from "../steps/step-list.tsx"
import { endingText } from "../steps/ending-text.ts"
import { ticksOf, type CallFacts, type Tick, type Ticks } from "../steps/ticks.ts"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { Marked } from "../ui/marked.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { Block, ValueView } from "../ui/value-view.tsx"
import { clockTime, spanText, tookText } from "../words/time-text.ts"
import { endedText, parameterText } from "../words/problem-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { Answers } from "../steps/answers.tsx"
import { recordQuery } from "./queries.ts"
import { RecordStep } from "./record-step.tsx"
import { goOn, tryAgain, useRun, type Run } from "./run.ts"
import look from "./tools.module.css"

/** Shows the outcome of the last Explain or Call: the seven steps, live. */
export function Outcome() {
  const words = useWords()
  const run = useRun()
  const section = useRef<HTMLElement>(null)
  const startedAt = run?.startedAt
  useEffect(() => void goOn(), [])
  // With the columns one below the other, the outcome would be out of view.
  const isWrong = run?.result?.code === "invalid_arguments" || run?.explanation?.code === "invalid_arguments"
  useEffect(() => {
    // Problems of the input stand at its fields.
    if (isWrong) document.querySelector(".sf-wrong")?.scrollIntoView({ block: "center" })
    else if (startedAt !== undefined && serverNow() - startedAt < 1000 && matchMedia("(width < 75em)").matches)
      section.current?.scrollIntoView({ block: "start" })
  }, [startedAt, isWrong])
  return (
    <section ref={section} id="outcome" className={look["why-p"]} aria-label={words.tools.outcome}>
      <div className={`scroll ${look["why-b"]}`} tabIndex={0} role="group" aria-label={words.audit.stepsLabel}>
        {run === undefined ? (
          <div className="play-empty">
            <p>
              <b>{words.tools.nothingCalled}</b>
            </p>
            <p className="soft">{words.tools.nothingCalledMore}</p>
          </div>
        ) : run.state === "explaining" ? (
          <Later>
            <div className="sks" aria-busy="true">
              <div className="sk" />
              <div className="sk" />
              <div className="sk" />
            </div>
          </Later>
        ) : run.state === "failed" ? (
          <ProblemBox error={run.error} {...(run.mayTryAgain === true ? { retry: () => void tryAgain() } : {})} />
        ) : (
          <Steps run={run} />
        )}
      </div>
    </section>
  )
}

/** Returns the facts about a call that is made here. */
function factsOf({ state, asked, held, result }: Run): CallFacts {
  const metadata = result?.["metadata"] as { ran?: boolean } | undefined
  return {
    state: state === "ended" || state === "waiting" || state === "held" ? state : "running",
    code: result?.code,
    asked,
    held,
    ran: metadata?.ran,
  }
}

/** Returns the steps that a call only explained would reach: the checks are real, the rest was not tried. */
function explainedTicks({ explanation }: Run): Ticks {
  const isDenied = explanation?.verdict === "deny"
  const ticks = ticksOf({
    state: "ended",
    code: isDenied ? (explanation.code ?? "permission_denied") : undefined,
    ran: false,
    asked: true,
    held: true,
  })
  return isDenied ? ticks : { ...ticks, approve: "open", run: "open", release: "open" }
}

function Steps({ run }: { run: Run }) {
  const words = useWords()
  const { explanation, result, callId, request } = run
  const isExplained = run.state === "explained"
  const facts = factsOf(run)
  const record = useQuery({ ...recordQuery(callId ?? ""), enabled: run.state === "ended" && callId !== undefined })
  const ticks = isExplained ? explainedTicks(run) : ticksOf(facts)
  const verdict = explanation?.verdict
  const title = isExplained
    ? { allow: words.tools.wouldRun, ask: words.tools.wouldAsk, deny: words.tools.wouldDeny }[verdict ?? "allow"]
    : endingText(facts, words)
  const checks = explanation === undefined ? { visible: [], allowed: [] } : checksByStep(explanation)
  const isEarly = explanation?.checks.some(({ check }) => check === "registry" || check === "schema") === true
  return (
    <>
      <header className={look["verdict"]} aria-live="polite">
        <Rail ticks={ticks} label={title} />
        <h2>{title}</h2>
        <span className="grow" />
        <span className="dim num">
          {isExplained ? words.tools.notMade : result !== undefined ? <Took run={run} /> : <Since at={run.startedAt} />}
        </span>
      </header>
      {run.lost && (
        <div className="strip strip-ask" role="status">
          <Icon name="plug-connected-x" />
          <p className="grow">
            <Marked text={words.tools.lost} />
          </p>
        </div>
      )}
      <div className={`dim ${look["for-p"]}`}>
        <span>
          <code>{request.tool}</code> {words.audit.by(request.agentId)}
        </span>
        <span className="grow" />
        {callId !== undefined && (run.state === "waiting" || run.state === "held") && (
          <Link className="btn btn-s to-card" to="/inbox/$callId" params={{ callId }}>
            {words.tools.answerIt}
          </Link>
        )}
      </div>
      <ol className="steps">
        <Step name="resolve" tick={ticks.resolve} />
        <Step name="visible" tick={ticks.visible}>
          <StepChecks tick={ticks.visible} checks={isEarly ? [] : checks.visible} />
        </Step>
        <Step name="validate" tick={ticks.validate}>
          {ticks.validate === "failed" && <Wrong sentence={result?.error ?? explanation?.reasons[0]?.sentence ?? ""} />}
        </Step>
        <Step name="allowed" tick={ticks.allowed === "done" && verdict === "ask" ? "asked" : ticks.allowed}>
          {ticks.allowed !== "open" && checks.allowed.length > 0 && (
            <>
              <p>
                <Marked text={words.steps.decidedBy(words.steps.verdict[verdict ?? "allow"])} />
              </p>
              <Checks checks={checks.allowed} />
            </>
          )}
          {explanation !== undefined && verdict !== "allow" && !isEarly && (
            <WhatWouldChange change={explanation.change} />
          )}
        </Step>
        <Step name="approve" tick={ticks.approve}>
          {ticks.approve === "skipped" && <p>{words.steps.nobodyAsked}</p>}
          {(ticks.approve === "waiting" || ticks.approve === "no") && <Waits run={run} />}
          <Answers entries={record.data} kinds={["answered"]} />
        </Step>
        <Step name="run" tick={ticks.run}>
          {run.output !== "" && result?.success !== true && <Block text={run.output} label={words.steps.output} />}
          {result !== undefined && ticks.run !== "open" && <Result run={run} />}
        </Step>
        <Step name="release" tick={ticks.release}>
          {ticks.release === "skipped" && <p>{words.steps.notHeld}</p>}
          {(ticks.release === "held" || ticks.release === "no") && <Waits run={run} />}
          <Answers entries={record.data} kinds={["released", "withheld"]} />
        </Step>
        {callId !== undefined && <RecordStep callId={callId} entries={record.data} />}
      </ol>
    </>
  )
}

function StepChecks({ tick, checks }: { tick: Tick; checks: Parameters<typeof Checks>[0]["checks"] }) {
  const words = useWords()
  if (checks.length === 0) return null
  if (tick === "refused") return <Checks checks={checks} />
  return (
    <details className="fold">
      <summary>{words.steps.nothingAgainst(checks.length)}</summary>
      <Checks checks={checks} />
    </details>
  )
}

/** Shows the problem of the input. The same stands at its fields. */
function Wrong({ sentence }: { sentence: string }) {
  const { language } = useLanguage()
  if (language === "en") return <p>{sentence}</p>
  return problemsInSentence(sentence).map((problem) => <p key={problem}>{parameterText(problem, language)}</p>)
}

/** A call or a result that waits for a person, or how that ended. */
function Waits({ run: { until, result } }: { run: Run }) {
  const words = useWords()
  const { language } = useLanguage()
  if (result !== undefined) return <p>{endedText(result, language)}</p>
  return until === undefined ? null : <p>{words.tools.until(clockTime(until).slice(0, 5))}</p>
}

function Result({ run: { result } }: { run: Run }) {
  const words = useWords()
  const { language } = useLanguage()
  if (result === undefined) return null
  if (!result.success)
    return (
      <p>
        <code>{result.code}</code> {endedText(result, language)}
      </p>
    )
  return <ValueView value={result.result} label={words.steps.result} />
}

function Took({ run: { result, startedAt, asked, held } }: { run: Run }) {
  const words = useWords()
  const took = result?.durationMs ?? 0
  const end = typeof result?.["completedAt"] === "number" ? result["completedAt"] : startedAt + took
  const waited = Math.max(0, end - startedAt - took)
  return (
    <>
      {tookText(took, words)}
      {(asked || held) && waited > 0 && `, ${words.steps.waited(tookText(waited, words))}`}
    </>
  )
}

function Since({ at }: { at: number }) {
  const words = useWords()
  return spanText(Math.max(0, useServerTime() - at), words)
}
