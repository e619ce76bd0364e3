import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { useMe } from "../api/queries.ts"
import { JsonField } from "../form/fields.tsx"
import { noProblems, problemsByPath, problemsInSentence, type InputProblems } from "../form/problems.ts"
import { SchemaForm } from "../form/schema-form.tsx"
import { propertiesOf } from "../form/schema.ts"
import { commandKey } from "../frame/keys-help.tsx"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { Select } from "../ui/select.tsx"
import { tookText } from "../words/time-text.ts"
import { parameterText } from "../words/problem-text.ts"
import { useLanguage, useWords, type Language } from "../words/words.tsx"
import { draftOf, keepDraft, recentInputs, rememberInput } from "./drafts.ts"
import { rememberAgent } from "./last-shown.ts"
import { managesOrganisation, recordQuery, type AgentInfo } from "./queries.ts"
import { usableInput } from "./recorded-input.ts"
import { call, explain, useRun, type Run } from "./run.ts"
import { ToolDetails } from "./tool-details.tsx"
import look from "./tools.module.css"

const route = getRouteApi("/frame/tools/")

interface Props {
  readonly tool: ToolInfo
  /** The name by which it is called. */
  readonly name: string
  readonly agent: AgentInfo | undefined
}

/** One tool: what it is, its input, and the two things to do with it. */
export function ToolPanel({ tool, name, agent }: Props) {
  const words = useWords()
  const { scopes } = useMe()
  const run = useRun()
  const form = useRef<HTMLFormElement>(null)
  const { input, setInput, note } = useInput(name)
  // On a phone the list was scrolled to the tool, and the form takes its place.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "start" })
  }, [])
  const [view, setView] = useState<"form" | "json">("form")
  const hasFields = propertiesOf(tool.inputSchema).length > 0
  const problems = problemsOf(run, name, useLanguage().language)
  const mayCall =
    agent !== undefined && scopes.includes("call") && (scopes.includes("manage") || !managesOrganisation(agent))
  const isBusy = run?.state === "running"

  const start = (what: "explain" | "call") => {
    if (agent === undefined || isBusy || form.current?.reportValidity() === false) return
    if (what === "call" && !mayCall) return
    const request = { tool: name, agentId: agent.id, input: input ?? {} }
    rememberInput(name, request.input)
    rememberAgent(agent.id)
    void (what === "call" ? call(request) : explain(request))
  }
  useShortcuts({ Enter: () => start("call"), e: () => start("explain") })
  return (
    <section className={look["play-form"]} aria-labelledby="tool-name">
      <form
        ref={form}
        className={`scroll ${look["form-b"]}`}
        tabIndex={-1}
        onSubmit={(event) => {
          event.preventDefault()
          start("call")
        }}
      >
        <Head tool={tool} />
        <div className={look["form-t"]}>
          {hasFields && (
            <div className="seg" role="group" aria-label={words.tools.inputAs}>
              <button type="button" aria-pressed={view === "form"} onClick={() => setView("form")}>
                {words.card.asForm}
              </button>
              <button type="button" aria-pressed={view === "json"} onClick={() => setView("json")}>
                {words.card.asJson}
              </button>
            </div>
          )}
          <span className="grow" />
          <Recent tool={name} choose={setInput} />
        </div>
        {note !== undefined && <p className="hint">{note}</p>}
        {problems.other.map((problem) => (
          <p className="hint sf-wrong" key={problem} role="alert">
            {problem}
          </p>
        ))}
        {!hasFields && input === undefined && <p className="soft">{words.tools.noInput}</p>}
        {hasFields && view === "form" ? (
          <SchemaForm schema={tool.inputSchema} value={input} change={setInput} problems={problems.byPath} />
        ) : (
          (hasFields || input !== undefined) && (
            <div className="field">
              <label className="lab" htmlFor="whole-input">
                {words.card.input} <span className="dim">JSON</span>
              </label>
              <JsonField
                id="whole-input"
                aria-describedby="tool-name"
                value={input ?? {}}
                change={setInput}
                rows={12}
              />
              {Object.values(problems.byPath).map((problem) => (
                <p className="hint sf-wrong" key={problem}>
                  {problem}
                </p>
              ))}
            </div>
          )
        )}
      </form>
      <div className={look["form-f"]}>
        {!scopes.includes("call") && (
          <p className={`hint ${look["form-n"]}`}>
            <Marked text={words.tools.mayNotCall} />
          </p>
        )}
        <button
          type="button"
          className="btn btn-l"
          disabled={agent === undefined || isBusy}
          onClick={() => start("explain")}
        >
          {words.tools.explain}
          <kbd>{commandKey}E</kbd>
        </button>
        <button type="button" className="btn btn-l btn-p" disabled={!mayCall || isBusy} onClick={() => start("call")}>
          <span className="cut">
            {run?.state === "running" ? words.tools.calling : words.tools.call(agent?.id ?? "…")}
          </span>
          <kbd>{commandKey}↵</kbd>
        </button>
      </div>
    </section>
  )
}

function Head({ tool }: { tool: ToolInfo }) {
  const words = useWords()
  const { name, layer, version, level, effect, destructive, calls, failures, p50 } = tool
  return (
    <header className="card-h">
      <div className={look["tool-h"]}>
        <Link
          className="ib phone-only"
          to="/tools"
          search={(before) => (before.agent === undefined ? {} : { agent: before.agent })}
          aria-label={words.tools.list}
        >
          <Icon name="chevron-left" />
        </Link>
        <h2 id="tool-name" className="mono">
          {name}
        </h2>
      </div>
      <div className="facts">
        <span>{layer}</span>
        <span className="num">{version}</span>
        <i className="sep" />
        <span title={words.tools.levelMore[level]}>{level}</span>
        {effect !== undefined && <span>{words.tools.effect(effect)}</span>}
        {destructive && <span className="tag tag-deny">{words.tools.destructive}</span>}
        <i className="sep" />
        <span className="num">{words.tools.calls(calls)}</span>
        {failures > 0 && <span className="num">{words.tools.failures(failures)}</span>}
        {p50 !== undefined && calls > 0 && <span className="num">{words.tools.median(tookText(p50, words))}</span>}
      </div>
      <p className="soft">{tool.description}</p>
      <ToolDetails tool={tool} />
    </header>
  )
}

function Recent({ tool, choose }: { tool: string; choose: (input: unknown) => void }) {
  const words = useWords()
  const inputs = recentInputs(tool)
  if (inputs.length === 0) return null
  return (
    <Select
      className={`select-s ${look["recent"]}`}
      aria-label={words.tools.recent}
      value=""
      onChange={(event) => choose(inputs[Number(event.target.value)])}
    >
      <option value="">{words.tools.recent}</option>
      {inputs.map((input, at) => (
        <option key={JSON.stringify(input)} value={at}>
          {JSON.stringify(input).slice(0, 90)}
        </option>
      ))}
    </Select>
  )
}

/** The input being typed. It survives a look at another page; `?from=` begins with what a recorded call had. */
function useInput(tool: string) {
  const words = useWords()
  const { from } = route.useSearch()
  const [input, setInput] = useState(() => draftOf(tool))
  const record = useQuery({ ...recordQuery(from ?? ""), enabled: from !== undefined })
  const entry = record.data?.find((each) => typeof each["input"] === "string")
  const recorded = useMemo(
    () => entry && { usable: usableInput(String(entry["input"]), entry["inputDigest"] === undefined) },
    [entry],
  )
  useEffect(() => {
    if (recorded?.usable !== undefined) setInput(recorded.usable.input)
  }, [recorded])
  const leftOut = recorded?.usable?.leftOut ?? []
  return {
    input,
    setInput(next: unknown) {
      keepDraft(tool, next)
      setInput(next)
    },
    /** The note on parts of the recorded call that the form lacks. */
    note:
      recorded === undefined
        ? undefined
        : recorded.usable === undefined
          ? words.tools.recordCut
          : leftOut.length > 0
            ? words.tools.recordMasked(leftOut.join(words.card.comma))
            : undefined,
  }
}

/** Returns the server's problems with the input of the last Explain or Call of this tool. */
function problemsOf(run: Run | undefined, tool: string, language: Language): InputProblems {
  if (run === undefined || run.request.tool !== tool) return noProblems
  const { result, explanation } = run
  const sentence =
    result?.code === "invalid_arguments"
      ? result.error
      : explanation?.code === "invalid_arguments"
        ? explanation.reasons[0]?.sentence
        : undefined
  if (sentence === undefined) return noProblems
  return problemsByPath(problemsInSentence(sentence), (problem) => parameterText(problem, language))
}

/** ⌘ or Ctrl with a key, also while somebody types. */
function useShortcuts(keys: Readonly<Record<string, () => void>>) {
  const latest = useRef(keys)
  // Before the next key can come: it must see what was typed last.
  useLayoutEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || event.repeat) return
      const run = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key]
      if (run === undefined || document.querySelector('[aria-modal="true"]') !== null) return
      event.preventDefault()
      run()
    }
    window.addEventListener("keydown", listen)
    return () => window.removeEventListener("keydown", listen)
  }, [])
}
