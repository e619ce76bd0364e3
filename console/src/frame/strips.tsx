import { useConnection, goLive } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { useServerTime } from "../api/clock.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { spanText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { useFreeze } from "./freeze.tsx"

/** What holds for the whole page: no connection, somebody is frozen. */
export function Strips() {
  return (
    <div className="strips">
      <ConnectionStrip />
      <FrozenStrip />
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

function FrozenStrip() {
  const words = useWords()
  const { frozen } = useMe()
  const { thaw } = useFreeze()
  const first = frozen[0]
  if (first === undefined) return null
  const everyone = frozen.find((entry) => entry.agentId === undefined)
  const agents = frozen.flatMap(({ agentId }) => agentId ?? [])
  const text =
    everyone === undefined
      ? words.frame.frozenAgents(agents.join(", "), agents.length > 1, first.by)
      : words.frame.frozenEveryone(everyone.by)
  const because = (everyone ?? first).because
  const thawed = everyone === undefined ? agents : [undefined]
  return (
    <div
      className="strip strip-held strip-page hatch"
      data-frozen={everyone === undefined ? agents.join(" ") : "everyone"}
    >
      <Icon name="snowflake" />
      <p className="grow">
        <Marked text={text} /> {because !== undefined && because !== "" && <q>{because}</q>}
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
