import { queryOptions, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ShownRuleJson } from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import { get } from "../api/http.ts"
import { callsQuery, useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { stepsDone } from "./steps-done.ts"
import { hasReadStory } from "./story-read.ts"
import look from "./inbox.module.css"

/** The agent that makes the calls of the first five minutes while the sample is there. */
const sampleAgent = "dev"

/** The number of conversations that the person began, among the newest. */
const talksQuery = queryOptions({
  queryKey: ["chats", "five minutes"],
  queryFn: async () => (await get<{ items: unknown[] }>("/v1/chains?mine=true&limit=20")).items.length,
})

/** The number of rules that people have written here. */
const ownRulesQuery = queryOptions({
  queryKey: ["rules", "five minutes"],
  queryFn: async () =>
    (await get<{ items: ShownRuleJson[] }>("/v1/rules?limit=500")).items.filter(({ stored }) => stored).length,
})

/** Shows the first steps to try. Each marks itself as done, and counts what happened since. */
export function FiveMinutes() {
  const words = useWords()
  const { first } = words
  const { waiting, sample } = useMe()
  const agent = sample ? sampleAgent : undefined
  const { data: calls = [] } = useQuery(callsQuery)
  const { ran, asked, answered, isRead } = stepsDone(calls, hasReadStory())
  const { data: talks = 0 } = useQuery(talksQuery)
  const { data: own = 0 } = useQuery(ownRulesQuery)
  const [lastRan] = ran
  const [lastAnswered] = answered
  const steps = [
    {
      title: first.todo.runs.title,
      more: first.todo.runs.more(agent),
      done: lastRan && first.done.runs(lastRan.tool, lastRan.agentId, tookText(lastRan.durationMs, words), ran.length),
      link: <ToTool tool="read_file" agent={agent} />,
      callId: lastRan?.callId,
    },
    {
      title: first.todo.waits.title,
      more: first.todo.waits.more(agent),
      done: waiting + asked.length === 0 ? undefined : first.done.waits(waiting, asked.length),
      link: <ToTool tool="run_command" agent={agent} />,
      callId: asked[0]?.callId,
    },
    {
      ...first.todo.answer,
      done: lastAnswered && first.done.answer(answered.length, lastAnswered.tool, lastAnswered.by ?? ""),
      link: undefined,
      callId: lastAnswered?.callId,
    },
    {
      ...first.todo.talk,
      done: talks === 0 ? undefined : first.done.talk(talks),
      link: (
        <Link className="btn btn-p" to="/chat" search={{ begin: "yes" }}>
          {first.openChat}
        </Link>
      ),
      callId: undefined,
    },
    {
      ...first.todo.rule,
      done: own === 0 ? undefined : first.done.rule(own),
      link: (
        <Link className="btn btn-p" to="/rules">
          {first.openRules}
        </Link>
      ),
      callId: undefined,
    },
    {
      ...first.todo.story,
      done: isRead ? first.done.story(calls.length) : undefined,
      link: lastAnswered && (
        <Link className="btn btn-p" to="/audit/$callId" params={{ callId: lastAnswered.callId }}>
          {first.openStory}
        </Link>
      ),
      callId: undefined,
    },
  ]
  const now = steps.findIndex(({ done }) => done === undefined)
  return (
    <section>
      <div className={look["first-h"]}>
        <h2>{first.minutes}</h2>
        <span className="dim num">
          {first.doneOf(steps.filter(({ done }) => done !== undefined).length, steps.length)}
        </span>
      </div>
      <ol className={look["fss"]}>
        {steps.map(({ title, more, done, link, callId }, at) => (
          <li
            key={title}
            className={
              done !== undefined
                ? `${look["fs"]} ${look["fs-done"]}`
                : at === now
                  ? `${look["fs"]} ${look["fs-now"]}`
                  : look["fs"]
            }
          >
            <span className={look["fs-n"]}>{done === undefined ? at + 1 : <Icon name="check" small />}</span>
            <div className="grow">
              <h3>{title}</h3>
              <p>{done ?? more}</p>
            </div>
            {at === now && link}
            {done !== undefined && callId !== undefined && (
              <Link className="btn btn-s btn-q" to="/audit/$callId" params={{ callId }}>
                {first.open}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

function ToTool({ tool, agent }: { tool: string; agent: string | undefined }) {
  const { first } = useWords()
  return (
    <Link className="btn btn-p" to="/tools" search={agent === undefined ? { tool } : { tool, agent }}>
      {first.openPlayground}
    </Link>
  )
}
