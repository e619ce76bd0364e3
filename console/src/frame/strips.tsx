import { useLocation } from "@tanstack/react-router"
import { useMe } from "../api/queries.ts"
import { post } from "../api/http.ts"
import { goLive, queries, useConnection } from "../api/live.ts"
import { useServerTime } from "../api/clock.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { Said } from "../ui/said.tsx"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { spanText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { useFreeze } from "./freeze.tsx"

/** Shows the state of the whole page: no connection, somebody is frozen, modes in force. */
export function Strips() {
  return (
    <div className="strips">
      <ConnectionStrip />
      <FrozenStrip />
      <ModeStrips />
    </div>
  )
}

function ConnectionStrip() {
  const words = useWords()
  const connection = useConnection()
  useServerTime()
  if (connection.state !== "lost" || Date.now() - connection.since < 1500) return null
  return (
    <div className="strip strip-ask strip-page" role="status">
      <Icon name="plug-connected-x" />
      <p className="grow">
        <Marked text={words.frame.noConnectionFor(spanText(Date.now() - connection.since, words))} />{" "}
        <span aria-hidden="true">
          {words.frame.tryingAgain(words.time.seconds(Math.max(1, Math.ceil((connection.next - Date.now()) / 1000))))}
        </span>
      </p>
      <button type="button" className="btn btn-s" onClick={() => goLive().retry()}>
        {words.frame.tryNow}
      </button>
    </div>
  )
}

/** Shows the frozen agents. The tree shows single agents itself, and keeps its place when one is frozen. */
function FrozenStrip() {
  const words = useWords()
  const { frozen } = useMe()
  const { thaw } = useFreeze()
  const { pathname } = useLocation()
  const first = frozen[0]
  const everyone = frozen.find((entry) => entry.agentId === undefined)
  if (first === undefined || (everyone === undefined && /^\/organisation(\/agents\/.*)?\/?$/.test(pathname)))
    return null
  const agents = frozen.flatMap(({ agentId }) => agentId ?? [])
  const text =
    everyone === undefined
      ? words.frame.frozenAgents(agents.join(", "), agents.length > 1, first.by)
      : words.frame.frozenEveryone(everyone.by)
  const { because, by } = everyone ?? first
  const thawed = everyone === undefined ? agents : [undefined]
  return (
    <div
      className="strip strip-held strip-page hatch"
      data-frozen={everyone === undefined ? agents.join(" ") : "everyone"}
    >
      <Icon name="snowflake" />
      <p className="grow">
        <Marked text={text} />{" "}
        {because !== undefined && because !== "" && (
          <Said text={because} by={by}>
            {(reason) => <q>{reason}</q>}
          </Said>
        )}
      </p>
      {thawed.map((agentId) => (
        <button key={agentId ?? ""} type="button" className="btn btn-s" onClick={() => thaw(agentId)}>
          {agentId === undefined
            ? words.frame.thawEveryone
            : agents.length > 1
              ? words.frame.thawAgent(agentId)
              : words.frame.thaw}
        </button>
      ))}
    </div>
  )
}

function ModeStrips() {
  const words = useWords()
  const tell = useTell()
  const problemText = useProblemText()
  const { modes, scopes } = useMe()
  const now = useServerTime()
  const end = (agentId: string, sessionId: string | undefined) => {
    post(`/v1/agents/${encodeURIComponent(agentId)}/mode`, { mode: "ask", sessionId })
      .then(() => queries.invalidateQueries({ queryKey: ["me"] }))
      .catch((error: unknown) => tell({ icon: "alert-triangle", text: problemText(error), ms: 12_000 }))
  }
  return modes
    .filter(({ until }) => until === undefined || now < until)
    .map(({ mode, agentId, sessionId = "", by, until = 0 }) => (
      <div key={`${agentId} ${sessionId} ${mode}`} className="strip strip-ask strip-page" data-mode={mode}>
        <Icon name={mode === "plan" ? "list-check" : "pencil"} />
        <p className="grow">
          <Marked
            text={
              mode === "plan"
                ? words.frame.planMode(agentId, by)
                : words.frame.editsMode(agentId, by, spanText(until - now, words))
            }
          />
          {mode === "edits" && (
            <>
              {" "}
              {words.frame.ofSession} <Said text={sessionId} />
            </>
          )}
        </p>
        {scopes.includes("approve") && (
          <button
            type="button"
            className="btn btn-s"
            onClick={() => end(agentId, mode === "plan" ? undefined : sessionId)}
          >
            {words.frame.endMode}
          </button>
        )}
      </div>
    ))
}
