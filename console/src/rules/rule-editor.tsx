import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect, useId, useRef, useState, type ReactNode } from "react"
import type { SimulationJson, TriedJson } from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import type { Suggestion } from "../../../src/interfaces/http/routes/schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { commandKey } from "../frame/keys-help.tsx"
import { Icon } from "../ui/icon.tsx"
import { Gone } from "../ui/gone.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { momentText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { listOf, ruleOf, type ArgDraft, type Draft } from "./draft.ts"
import { flawText } from "./flaw-text.ts"
import { addRule, changeRule, choicesQuery, simulate, tryRule, type WrittenRule } from "./queries.ts"
import { verdictClass } from "./rule-text.ts"
import look from "./rules.module.css"

interface Props {
  readonly begin: Draft
  /** The rule that is changed; a new one where it is left out. */
  readonly stored?: { readonly id: string; readonly revision: string }
  /** True if somebody has removed the stored rule meanwhile: what was typed stays, and is saved as a new one. */
  readonly isGone?: boolean
  readonly suggestion?: Suggestion
  readonly close: () => void
  readonly saved: (id: string) => void
}

interface Example {
  readonly agentId: string
  readonly input: string
}

/** Writes a rule. Each change is tried on examples at once; what was recorded is tried when asked. */
export function RuleEditor({ begin, stored, isGone = false, suggestion, close, saved }: Props) {
  const words = useWords()
  const text = words.govern.rules
  const { language } = useLanguage()
  const tell = useTell()
  const problem = useProblemText()
  const [draft, setDraft] = useState(begin)
  const [examples, setExamples] = useState<readonly Example[]>(
    (suggestion?.examples ?? []).map((input) => ({ agentId: begin.agent, input })),
  )
  const [revision, setRevision] = useState(stored?.revision ?? "")
  const [state, setState] = useState<{ saving: boolean; error?: unknown; meanwhile?: boolean }>({ saving: false })
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const rule = ruleOf({ ...draft, shadow: false })
  // Missing fields are reported once, beside the buttons, and the rest is tried already.
  const missing =
    listOf(draft.tool).length === 0 ? text.needsTool : draft.because.trim() === "" ? text.needsBecause : ""
  const whole = { because: "…", ...rule }
  const tried = useTried(whole, stored?.id, draft, examples)
  const isBroken = tried?.valid === false || missing !== ""

  const save = async (shadow: boolean) => {
    setState({ saving: true })
    const written = shadow ? { ...rule, shadow: true } : rule
    try {
      const done =
        stored === undefined || isGone ? await addRule(written) : await changeRule(stored.id, written, revision)
      for (const topic of ["rules", "suggestions", "tools"]) void queries.invalidateQueries({ queryKey: [topic] })
      tell({ icon: "check", text: shadow ? text.savedShadow : text.saved, ms: 8000 })
      saved(done.id)
    } catch (error) {
      const { code, current } = problemOf(error) as { code?: string; current?: { revision?: string } }
      const meanwhile = code === "changed_meanwhile"
      if (meanwhile && current?.revision !== undefined) setRevision(current.revision)
      setState({ saving: false, error, meanwhile })
    }
  }
  return (
    <form
      className={look["pane"]}
      aria-labelledby="rule-e"
      onSubmit={(event) => {
        event.preventDefault()
        void save(false)
      }}
      onKeyDown={(event) => {
        if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey)) return
        event.preventDefault()
        if (!isBroken) void save(false)
      }}
    >
      <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={text.newRule}>
        <header className="card-h">
          <Link to="/rules" className="ib phone-only" aria-label={text.rules}>
            <Icon name="chevron-left" />
          </Link>
          <h2 id="rule-e">{stored === undefined ? text.title.new : text.title.edit}</h2>
          {suggestion !== undefined && (
            <p className="soft">
              <Marked
                text={words.inbox.suggestion(suggestion.approvals, draft.tool, draft.touching, printable(draft.agent))}
              />
            </p>
          )}
        </header>
        {isGone && <Gone text={text.goneSave} />}
        <Fields draft={draft} set={set} />
        {(tried?.flaws ?? []).map(({ kind, sentence }) => (
          <p key={sentence} className="strip strip-in strip-ask" role="status">
            <Icon name="alert-triangle" />
            <span>
              <b>{text.flaw[kind]}.</b> {flawText(sentence, language)}
            </span>
          </p>
        ))}
        <Examples examples={examples} change={setExamples} tried={tried} draft={draft} />
        <Recorded rule={whole} without={stored?.id} begins={suggestion !== undefined} />
        {state.error !== undefined && (
          <p className="strip strip-in strip-deny" role="alert">
            <Icon name="alert-triangle" />
            <span>{state.meanwhile === true ? <Marked text={text.meanwhile} /> : problem(state.error)}</span>
          </p>
        )}
      </div>
      <footer className={look["bar"]}>
        <p className="grow dim" role="status">
          {missing === "" ? draft.verdict === "allow" && text.guards : missing}
        </p>
        <button type="button" className="btn btn-q" onClick={close}>
          {text.cancel}
        </button>
        <button type="button" className="btn" disabled={state.saving || isBroken} onClick={() => void save(true)}>
          {text.asShadow}
        </button>
        <button type="submit" className="btn btn-p" disabled={state.saving || isBroken}>
          {text.save}
          <kbd aria-hidden="true">{commandKey}S</kbd>
        </button>
      </footer>
    </form>
  )
}

/** Returns the server's result for the draft, a moment after the last key. */
function useTried(
  rule: WrittenRule,
  replaces: string | undefined,
  draft: Draft,
  examples: readonly Example[],
): TriedJson | undefined {
  const [tried, setTried] = useState<TriedJson>()
  const main = useMainParameter(draft)
  const asked = JSON.stringify({ rule, examples, main })
  const latest = useRef(asked)
  useEffect(() => {
    latest.current = asked
    const timer = setTimeout(() => {
      const given = examples.flatMap(({ agentId, input }) => {
        const value = parse(input, main)
        return agentId === "" || value === undefined
          ? []
          : [{ agentId, tool: firstTool(draft.tool), input: value.input }]
      })
      tryRule({ rule, ...(replaces === undefined ? {} : { replaces }), examples: given }).then(
        (answer) => latest.current === asked && setTried(answer),
        // The next key tries again.
        () => {},
      )
    }, 250)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line react/exhaustive-deps -- The text of the question has all of it.
  }, [asked, replaces])
  return tried
}

const firstTool = (tools: string) => listOf(tools)[0] ?? ""

/** The first parameter of the first tool that a rule names: most tools take what they are about in it. */
function useMainParameter({ tool }: Draft): string | undefined {
  const { data: choices } = useQuery(choicesQuery)
  return choices?.tools.find(({ value }) => value === firstTool(tool))?.parameters[0]
}

/** An input as it is typed: JSON, or only the text of the main parameter. */
function parse(text: string, main: string | undefined): { input: unknown } | undefined {
  const typed = text.trim()
  if (typed === "") return { input: {} }
  if (!typed.startsWith("{") && main !== undefined) return { input: { [main]: typed } }
  try {
    return { input: JSON.parse(typed) as unknown }
  } catch {
    return undefined
  }
}

function Fields({ draft, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  const words = useWords()
  const text = words.govern.rules
  const { data: choices } = useQuery(choicesQuery)
  const touches = (choices?.touchKinds ?? []).filter((kind) => kind !== "host:")
  const named = new Set(listOf(draft.tool))
  const about = (choices?.tools ?? []).filter(({ value, group }) => named.has(value) || named.has(`group:${group}`))
  const parameters = [
    ...new Set((about.length === 0 ? (choices?.tools ?? []) : about).flatMap((tool) => tool.parameters)),
  ]
  return (
    <div className={look["fields"]}>
      <Line label={text.verdictLabel}>
        <div className="seg" role="group" aria-label={text.verdictLabel}>
          {(["allow", "ask", "deny"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={draft.verdict === each}
              onClick={() => set({ verdict: each })}
            >
              {text.verdict[each]}
            </button>
          ))}
        </div>
      </Line>
      <ListField
        label={text.tool}
        hint={text.toolMore}
        value={draft.tool}
        change={(tool) => set({ tool })}
        options={[...(choices?.tools ?? []), ...(choices?.groups ?? [])].map(({ value }) => value)}
      />
      <ListField
        label={text.agent}
        hint={text.agentMore}
        value={draft.agent}
        change={(agent) => set({ agent })}
        options={(choices?.agents ?? []).map(({ value }) => value)}
      />
      <ListField
        label={text.role}
        value={draft.role}
        change={(role) => set({ role })}
        options={(choices?.roles ?? []).filter(({ byAgent }) => !byAgent).map(({ value }) => value)}
      />
      <ListField
        label={text.touching}
        hint={text.touchingMore}
        value={draft.touching}
        change={(touching) => set({ touching })}
        options={touches}
      />
      <ListField
        label={text.hosts}
        hint={text.hostsMore}
        value={draft.hosts}
        change={(hosts) => set({ hosts })}
        options={choices?.hosts ?? []}
      />
      <ListField
        label={text.except}
        hint={text.exceptMore}
        value={draft.except}
        change={(except) => set({ except })}
        options={[...touches, ...(choices?.hosts ?? []).map((host) => `host:${host}`)]}
      />
      <Args args={draft.args} change={(args) => set({ args })} parameters={parameters} />
      {draft.verdict === "ask" && draft.release === "" && (
        <Line label={text.approversLabel}>
          <input
            className={`in ${look["count"]}`}
            inputMode="numeric"
            aria-label={text.count}
            placeholder="1"
            value={draft.count}
            onChange={(event) => set({ count: event.target.value.replace(/\D/g, "") })}
          />
          <span className="dim">{text.withRole}</span>
          <Select
            className="select-s"
            aria-label={text.withRole}
            value={draft.approverRole}
            onChange={(event) => set({ approverRole: event.target.value })}
          >
            <option value="">{text.anyRole}</option>
            {(choices?.approverRoles ?? []).map((role) => (
              <option key={role}>{role}</option>
            ))}
          </Select>
        </Line>
      )}
      {draft.verdict === "ask" && (
        <Line label={text.release}>
          <Select
            className="select-s"
            aria-label={text.release}
            value={draft.release}
            onChange={(event) => set({ release: event.target.value as Draft["release"] })}
          >
            <option value="">{text.releaseNever}</option>
            <option value="always">{text.releaseAlways}</option>
            <option value="on-error">{text.releaseOnError}</option>
          </Select>
        </Line>
      )}
      <Line label={text.ends}>
        <input
          className="in"
          type="date"
          aria-label={text.ends}
          value={draft.expiresAt.slice(0, 10)}
          onChange={(event) => set({ expiresAt: event.target.value })}
        />
      </Line>
      <Line label={text.because}>
        <input
          className="in grow"
          aria-label={text.because}
          placeholder={text.becauseMore}
          value={draft.because}
          onChange={(event) => set({ because: event.target.value })}
        />
      </Line>
    </div>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <span className="lab">{label}</span>
      <div className={look["row"]}>{children}</div>
    </>
  )
}

interface ListProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly change: (value: string) => void
  readonly options: readonly string[]
}

/** A list with commas. It completes the last entry from what there is. */
function ListField({ label, hint = "", value, change, options }: ListProps) {
  const list = useId()
  const before = value.slice(0, value.lastIndexOf(",") + 1)
  const begin = before === "" ? "" : `${before} `
  return (
    <Line label={label}>
      <input
        className="in mono grow"
        aria-label={label}
        placeholder={hint}
        list={list}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => change(event.target.value)}
      />
      <datalist id={list}>
        {options.slice(0, 400).map((option) => (
          <option key={option} value={`${begin}${option}`} />
        ))}
      </datalist>
    </Line>
  )
}

interface ArgsProps {
  readonly args: readonly ArgDraft[]
  readonly change: (args: readonly ArgDraft[]) => void
  /** The parameters of the tools that the rule is about. */
  readonly parameters: readonly string[]
}

function Args({ args, change, parameters }: ArgsProps) {
  const words = useWords()
  const list = useId()
  const text = words.govern.rules
  const set = (at: number, next: Partial<ArgDraft>) =>
    change(args.map((arg, place) => (place === at ? { ...arg, ...next } : arg)))
  const names = { is: text.argIs, not: text.argNot, above: text.argAbove, below: text.argBelow, oneOf: text.argOneOf }
  return (
    <Line label={text.args}>
      <div className={look["args"]}>
        {args.map((arg, at) => (
          <div key={`${at}`} className={look["row"]}>
            <input
              className="in mono"
              aria-label={text.argName}
              placeholder={text.argName}
              list={list}
              autoComplete="off"
              value={arg.name}
              onChange={(event) => set(at, { name: event.target.value })}
            />
            <Select
              className="select-s"
              aria-label={text.args}
              value={arg.how}
              onChange={(event) => set(at, { how: event.target.value as ArgDraft["how"] })}
            >
              {Object.entries(names).map(([how, name]) => (
                <option key={how} value={how}>
                  {name}
                </option>
              ))}
            </Select>
            <input
              className="in mono grow"
              aria-label={names[arg.how]}
              inputMode={arg.how === "above" || arg.how === "below" ? "decimal" : "text"}
              value={arg.value}
              onChange={(event) => set(at, { value: event.target.value })}
            />
            <button
              type="button"
              className="ib ib-s"
              aria-label={words.form.remove(arg.name)}
              onClick={() => change(args.filter((_, place) => place !== at))}
            >
              <Icon name="x" small />
            </button>
          </div>
        ))}
        <button
          type="button"
          className="linklike"
          onClick={() => change([...args, { name: "", how: "is", value: "" }])}
        >
          {text.addArg}
        </button>
        <datalist id={list}>
          {parameters.slice(0, 400).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
    </Line>
  )
}

interface ExamplesProps {
  readonly examples: readonly Example[]
  readonly change: (examples: readonly Example[]) => void
  readonly tried: TriedJson | undefined
  readonly draft: Draft
}

function Examples({ examples, change, tried, draft }: ExamplesProps) {
  const words = useWords()
  const text = words.govern.rules
  const { data: choices } = useQuery(choicesQuery)
  const set = (at: number, next: Partial<Example>) =>
    change(examples.map((example, place) => (place === at ? { ...example, ...next } : example)))
  const main = useMainParameter(draft)
  // The server answers for those that could be read, in their order.
  const readable = examples.map(({ agentId, input }) => agentId !== "" && parse(input, main) !== undefined)
  return (
    <section className={look["part"]}>
      <h3 className="h3">{text.examples}</h3>
      <p className="hint">{text.examplesMore}</p>
      {examples.map((example, at) => {
        const place = readable.slice(0, at).filter(Boolean).length
        const outcome = readable[at] === true ? tried?.examples[place] : undefined
        return (
          <div key={`${at}`} className={look["row"]}>
            <Select
              className="select-s"
              aria-label={text.whyAgent}
              value={example.agentId}
              onChange={(event) => set(at, { agentId: event.target.value })}
            >
              {(choices?.agents ?? []).map(({ value }) => (
                <option key={value}>{value}</option>
              ))}
            </Select>
            <input
              className="in mono grow"
              aria-label={text.input}
              placeholder={main === undefined ? '{"path":"docs/notes.md"}' : text.exampleInput(main)}
              value={example.input}
              onChange={(event) => set(at, { input: event.target.value })}
            />
            {parse(example.input, main) === undefined ? (
              <span className="hint-wrong">{text.badJson}</span>
            ) : (
              outcome !== undefined && (
                <span className={verdictClass(outcome.after.verdict)} data-outcome={outcome.after.verdict}>
                  {text.fromTo(text.verdict[outcome.before.verdict], text.verdict[outcome.after.verdict])}
                </span>
              )
            )}
            <button
              type="button"
              className="ib ib-s"
              aria-label={words.form.remove(example.input)}
              onClick={() => change(examples.filter((_, other) => other !== at))}
            >
              <Icon name="x" small />
            </button>
          </div>
        )
      })}
      <button
        type="button"
        className="linklike"
        disabled={choices === undefined}
        onClick={() => {
          const named = draft.agent.split(",")[0]?.trim()
          const agentId = named === undefined || named === "" ? (choices?.agents[0]?.value ?? "") : named
          change([...examples, { agentId, input: "" }])
        }}
      >
        {text.addExample}
      </button>
    </section>
  )
}

interface RecordedProps {
  readonly rule: WrittenRule
  readonly without: string | undefined
  /** True if it is tried at once. */
  readonly begins: boolean
}

const firstRows = 20

/** Shows the outcomes of recorded calls with the draft. */
export function Recorded({ rule, without, begins }: RecordedProps) {
  const words = useWords()
  const text = words.govern.rules
  const { language } = useLanguage()
  const problem = useProblemText()
  const [state, setState] = useState<{ busy: boolean; error?: unknown; done?: SimulationJson; of?: string }>({
    busy: false,
  })
  const [rows, setRows] = useState(firstRows)
  const asked = JSON.stringify(rule)
  const run = async () => {
    setState({ busy: true })
    try {
      const done = await simulate({ add: [rule], ...(without === undefined ? {} : { without: [without] }) })
      setState({ busy: false, done, of: asked })
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  const begun = useRef(false)
  useEffect(() => {
    if (!begins || begun.current) return
    begun.current = true
    void run()
  })
  const { done } = state
  return (
    <section className={look["part"]} aria-busy={state.busy}>
      <h3 className={`h3 ${look["row"]}`}>
        <span className="grow">{text.recorded}</span>
        <button type="button" className="btn btn-s" disabled={state.busy} onClick={() => void run()}>
          {state.busy ? text.trying : text.tryRecorded}
        </button>
      </h3>
      {state.error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(state.error)}
        </p>
      )}
      {done !== undefined && (
        <div data-old={state.of !== asked || undefined} className={look["recorded"]}>
          <div className={look["figures"]}>
            <div>
              <b className="num">{done.total}</b>
              <span>{text.otherwise}</span>
            </div>
            <div>
              <b className="num">{done.refusedWouldRun}</b>
              <span>{text.refusedRun}</span>
            </div>
            <div>
              <b className="num">{done.looked}</b>
              <span>{text.looked(done.looked, done.uncertain)}</span>
            </div>
          </div>
          <table className="tbl tbl-s">
            <caption className="vh">{text.otherwise}</caption>
            <tbody>
              {done.changed.slice(0, rows).map((call) => (
                <tr key={call.callId}>
                  <td className="num dim">{momentText(call.at, language)}</td>
                  <td>{call.agentId}</td>
                  <td className="mono cutcell">
                    <Link to="/audit/$callId" params={{ callId: call.callId }}>
                      {printable(call.summary === "" ? call.tool : call.summary)}
                    </Link>
                  </td>
                  <td>
                    <span className={verdictClass(call.before)}>{text.verdict[call.before]}</span>
                  </td>
                  <td>
                    <Icon name="arrow-right" small />
                  </td>
                  <td>
                    <span className={verdictClass(call.after)}>{text.verdict[call.after]}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {done.changed.length > rows ? (
            <button type="button" className="linklike" onClick={() => setRows(done.changed.length)}>
              {text.more(done.total - rows)}
            </button>
          ) : (
            done.total > rows && <p className="dim">{text.more(done.total - done.changed.length)}</p>
          )}
        </div>
      )}
    </section>
  )
}
