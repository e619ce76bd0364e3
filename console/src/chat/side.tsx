import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { lazy, Suspense, useState, type ReactNode } from "react"
import type { ChainSideJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { ProblemBox } from "../ui/problem-box.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { spanText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { moneyText, numberText } from "./amounts.ts"
import { change, setMode, sideQuery } from "./queries.ts"
import look from "./side.module.css"

const DiffView = lazy(() => import("../card/diff-view.tsx"))

interface Props {
  readonly id: string
  readonly agentId: string
  readonly state: ReactNode
  readonly mayManage: boolean
}

/** Shows the side of a conversation: its agent, mode, budget, context, the agents below it and the files it changed. */
export function Side({ id, agentId, state, mayManage }: Props) {
  const words = useWords()
  const { data, error, refetch } = useQuery(sideQuery(id))
  return (
    <aside className={look["side"]} aria-label={words.chat.side}>
      <div className="head">
        <h2 className="cut" title={agentId}>
          {agentId}
        </h2>
        {state}
      </div>
      <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={words.chat.side}>
        {error !== null && data === undefined && <ProblemBox error={error} retry={() => void refetch()} />}
        {data !== undefined && (
          <>
            <Facts id={id} side={data} mayManage={mayManage} again={() => void refetch()} />
            <Mode id={id} side={data} mayManage={mayManage} again={() => void refetch()} />
            <Budget side={data} />
            <Context side={data} />
            <Below side={data} />
            <Changed side={data} />
          </>
        )}
      </div>
    </aside>
  )
}

interface PartProps {
  readonly id: string
  readonly side: ChainSideJson
  readonly mayManage: boolean
  readonly again: () => void
}

function Facts({ id, side, mayManage, again }: PartProps) {
  const words = useWords()
  const problem = useProblemText()
  const [error, setError] = useState<unknown>()
  const { model, models } = side
  const choose = (name: string) =>
    change(id, { model: name }).then(
      () => {
        setError(undefined)
        again()
      },
      (failure: unknown) => setError(failure),
    )
  return (
    <dl className="kv">
      <dt>{words.chat.role}</dt>
      <dd>{side.role}</dd>
      {side.department !== undefined && (
        <>
          <dt>{words.chat.department}</dt>
          <dd>{side.department}</dd>
        </>
      )}
      <dt>{words.chat.model}</dt>
      <dd>
        {mayManage && models.length > 1 ? (
          <Select
            className="select-s"
            aria-label={words.chat.model}
            value={model.next}
            onChange={(event) => void choose(event.target.value)}
          >
            {models.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        ) : (
          model.name
        )}
        {model.next !== model.name && <small className="dim">{words.chat.modelNext(model.next)}</small>}
        {error !== undefined && <small className="hint-wrong">{problem(error)}</small>}
      </dd>
      {side.taskId !== undefined && (
        <>
          <dt>{words.chat.task}</dt>
          <dd>{printable(side.taskId)}</dd>
        </>
      )}
      <dt>{words.chat.rounds}</dt>
      <dd className="num">{ofText(side.rounds, numberText, words.chat.of)}</dd>
    </dl>
  )
}

function ofText(
  { used, max }: { used: number; max?: number },
  text: (amount: number) => string,
  join: (used: string, max: string | undefined) => string,
): string {
  return join(text(used), max === undefined ? undefined : text(max))
}

const modes = ["plan", "ask", "edits"] as const

function Mode({ id, side: { agentId, mode }, mayManage, again }: PartProps) {
  const words = useWords()
  const problem = useProblemText()
  const [error, setError] = useState<unknown>()
  const choose = (next: (typeof modes)[number]) =>
    setMode(agentId, id, next).then(
      () => {
        setError(undefined)
        again()
      },
      (failure: unknown) => setError(failure),
    )
  return (
    <section>
      <h3 className="h3">{words.chat.mode}</h3>
      <div className={`seg ${look["modes"]}`} role="group" aria-label={words.chat.mode}>
        {modes.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={mode === each}
            disabled={!mayManage}
            onClick={() => void choose(each)}
          >
            {words.chat.modes[each]}
          </button>
        ))}
      </div>
      <p className="hint">{error === undefined ? words.chat.modeMore[mode] : problem(error)}</p>
    </section>
  )
}

function Budget({ side: { budget } }: { side: ChainSideJson }) {
  const words = useWords()
  const { cost, tokens, inputTokens, outputTokens } = budget
  const share = shareOf(cost) ?? shareOf(tokens)
  return (
    <section>
      <h3 className={`h3 ${look["amount"]}`}>
        {words.chat.budget}
        <span className="num">{ofText(cost, moneyText, words.chat.of)}</span>
      </h3>
      {share !== undefined && <Meter share={share} label={words.chat.percentSpent(Math.round(share * 100))} />}
      <p className="hint num">
        {words.chat.tokens(numberText(inputTokens), numberText(outputTokens))}{" "}
        {cost.max !== undefined && words.chat.pausesAt(moneyText(cost.max))}
      </p>
    </section>
  )
}

const shareOf = ({ used, max }: { used: number; max?: number }) =>
  max === undefined || max === 0 ? undefined : used / max

function Context({ side: { context } }: { side: ChainSideJson }) {
  const words = useWords()
  const { usedTokens, maxTokens, status, thresholds } = context
  const percent = Math.round((100 * usedTokens) / maxTokens)
  return (
    <section>
      <h3 className={`h3 ${look["amount"]}`}>
        {words.chat.context}
        <span className="num">{percent} %</span>
      </h3>
      <Meter
        share={usedTokens / maxTokens}
        label={words.chat.percentFull(percent)}
        ticks={[thresholds.warning, thresholds.critical, thresholds.exceeded]}
      />
      <p className="hint">{words.chat.contextMore[status](Math.round(thresholds.warning * 100))}</p>
    </section>
  )
}

interface MeterProps {
  readonly share: number
  readonly label: string
  readonly ticks?: readonly number[]
}

function Meter({ share, label, ticks = [] }: MeterProps) {
  const width = Math.min(1, share) * 240
  return (
    <svg className={look["meter"]} viewBox="0 0 240 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect className={look["whole"]} width="240" height="6" rx="3" />
      <rect className={share < 0.9 ? look["part"] : look["much"]} width={width} height="6" rx="3" />
      <path className={look["tick"]} d={ticks.map((at) => `M${Math.min(239, at * 240)} 0v6`).join("")} />
    </svg>
  )
}

const dots = { working: "dot-run", waiting: "dot-wait", failed: "dot-deny", delegated: "", answered: "" } as const

function Below({ side: { agentId, below } }: { side: ChainSideJson }) {
  const words = useWords()
  const now = useServerTime(10_000)
  if (below.length === 0) return null
  return (
    <section>
      <h3 className="h3">{words.chat.below(agentId)}</h3>
      <ul className={look["list"]}>
        {below.map((each) => (
          <li key={each.conversationId}>
            <i className={`dot ${dots[each.doing]}`} />
            <span className="grow" title={printable(each.task)}>
              <Link to="/chat/$chatId" params={{ chatId: each.conversationId }}>
                {each.agentId}
              </Link>
              <small>
                {each.doing === "working" && each.tools.length > 0
                  ? each.tools.join(words.card.comma)
                  : words.chat.doing[each.doing]}
                {each.doing === "waiting" && `${words.card.comma}${spanText(Math.max(0, now - each.since), words)}`}
              </small>
            </span>
            <span className="num dim">{moneyText(each.cost)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Changed({ side: { changed } }: { side: ChainSideJson }) {
  const words = useWords()
  return (
    <section>
      <h3 className="h3">{words.chat.changed}</h3>
      {changed.length === 0 && <p className="hint">{words.chat.nothingChanged}</p>}
      {changed.map((file) => (
        <details key={file.path} className={look["file"]}>
          <summary>
            <code className="grow cut" title={printable(file.path)}>
              {printable(file.path)}
            </code>
            {file.deleted && <span className="dim">{words.chat.deleted}</span>}
            {file.added > 0 && <span className={look["added"]}>+{file.added}</span>}
            {file.removed > 0 && <span className={look["removed"]}>−{file.removed}</span>}
          </summary>
          {file.note !== undefined && <p className="hint">{words.chat.fileNote[file.note]}</p>}
          {file.diff !== "" && (
            <div
              className={look["diff"]}
              tabIndex={0}
              role="group"
              aria-label={words.card.differences(printable(file.path))}
            >
              <Suspense>
                <DiffView file={file} columns={1} />
              </Suspense>
            </div>
          )}
        </details>
      ))}
    </section>
  )
}
