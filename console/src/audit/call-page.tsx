import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { useEffect } from "react"
import { problemOf } from "../api/http.ts"
import { markStoryRead } from "../inbox/story-read.ts"
import { endingText } from "../steps/ending-text.ts"
import { Rail } from "../steps/rail.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { recordQuery } from "../tools/queries.ts"
import { CopyButton } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Said } from "../ui/said.tsx"
import { momentText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { readRecord, type CallRecord } from "./call-facts.ts"
import { isUndoNote } from "../../../src/audit/undo-note.ts"
import { call } from "../tools/run.ts"
import { CallSide } from "./call-side.tsx"
import { CallSteps } from "./call-steps.tsx"
import { TimeBar } from "./time-bar.tsx"
import look from "./audit.module.css"

const route = getRouteApi("/frame/audit/$callId")

/** One recorded call through every step: reasons, answers, times, input and result. */
export function CallPage() {
  const words = useWords()
  const { callId } = route.useParams()
  const query = useQuery(recordQuery(callId))
  const { data, error } = query
  const record = data === undefined ? undefined : readRecord(data)
  const isShown = record !== undefined
  useEffect(() => {
    if (isShown) markStoryRead()
  }, [isShown])
  return (
    <main className="page" id="main">
      <div className="head">
        <Link className="ib" to="/audit" aria-label={words.audit.back} title={words.audit.back}>
          <Icon name="chevron-left" />
        </Link>
        <h1 className={`${look["h1c"]} cut`}>
          <span className="dim">{words.audit.call}</span> <span className="mono">{callId.slice(0, 13)}</span>
        </h1>
        <CopyButton text={callId} />
        <span className="grow" />
        {record !== undefined && (
          <Link className="btn btn-s" to="/tools" search={{ tool: record.tool, agent: record.agentId, from: callId }}>
            {words.audit.callAgain}
          </Link>
        )}
        {record?.steps.some(({ text }) => isUndoNote(text)) === true && <UndoButton callId={callId} />}
      </div>
      {data?.length === 0 || (data === undefined && error !== null && problemOf(error).status === 404) ? (
        <div className="play-empty">
          <p>
            <b>{words.audit.noSuchCall}</b>
          </p>
          <p className="soft">{words.audit.noSuchCallMore}</p>
        </div>
      ) : record === undefined || data === undefined ? (
        <Loading of={query} lines={3} />
      ) : (
        <div className={look["callp"]}>
          <div className={`scroll ${look["callp-m"]}`} tabIndex={0} role="group" aria-label={words.audit.stepsLabel}>
            <Head record={record} callId={callId} />
            <TimeBar record={record} />
            <CallSteps record={record} />
          </div>
          <CallSide record={record} entries={data} />
        </div>
      )}
    </main>
  )
}

/** Calls `undo_call`, which shows a person what would be put back before anything is. */
function UndoButton({ callId }: { callId: string }) {
  const words = useWords()
  const navigate = useNavigate()
  const request = { tool: "undo_call", agentId: "operator", input: { call: callId } }
  const undo = () => {
    void call(request)
    void navigate({ to: "/tools", search: { tool: request.tool, agent: request.agentId } })
  }
  return (
    <button type="button" className="btn btn-s" onClick={undo}>
      {words.audit.undo}
    </button>
  )
}

function Head({ record, callId }: { record: CallRecord; callId: string }) {
  const words = useWords()
  const { language } = useLanguage()
  const { tool, agentId, facts, madeAt, end, start } = record
  const ending = endingText(facts, words)
  const taskId = start?.taskId ?? end?.taskId
  const isOpen = facts.state === "waiting" || facts.state === "held"
  return (
    <header className="card-h">
      <h2>
        <span className="mono">{tool}</span> {words.audit.by(agentId)}
      </h2>
      <div className="facts">
        <Rail ticks={ticksOf(facts)} label={ending} />
        <span className={look["ok-t"]}>{ending}</span>
        {end?.code !== undefined && <code>{end.code}</code>}
        <i className="sep" />
        <span className="num">{momentText(madeAt, language)}</span>
        {taskId !== undefined && taskId !== "" && (
          <>
            <i className="sep" />
            <span>
              {words.card.task} <Said text={taskId} />
            </span>
          </>
        )}
        {isOpen && (
          <Link to="/inbox/$callId" params={{ callId }}>
            {words.tools.answerIt}
          </Link>
        )}
      </div>
    </header>
  )
}
