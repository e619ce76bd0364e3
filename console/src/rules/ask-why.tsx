import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { Explanation } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { Checks, WhatWouldChange } from "../steps/checks.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { askWhy, choicesQuery } from "./queries.ts"
import { verdictClass } from "./rule-text.ts"
import look from "./rules.module.css"

/** Why a call would be decided as it would, check by check: what `qm why` says. */
export function AskWhy() {
  const words = useWords()
  const text = words.govern.rules
  const problem = useProblemText()
  const { data: choices } = useQuery(choicesQuery)
  const [asked, setAsked] = useState({ agentId: "", tool: "", input: "{}" })
  const [state, setState] = useState<{ busy: boolean; error?: unknown; done?: Explanation }>({ busy: false })
  const agentId = asked.agentId === "" ? (choices?.agents[0]?.value ?? "") : asked.agentId
  const submit = async () => {
    setState({ busy: true })
    try {
      const input = JSON.parse(asked.input.trim() === "" ? "{}" : asked.input) as unknown
      setState({ busy: false, done: await askWhy(agentId, asked.tool.trim(), input) })
    } catch (error) {
      setState({ busy: false, error: error instanceof SyntaxError ? new Error(text.badJson) : error })
    }
  }
  return (
    <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={text.why}>
      <form
        className={look["fields"]}
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <span className="lab">{text.whyAgent}</span>
        <Select
          aria-label={text.whyAgent}
          value={agentId}
          onChange={(event) => setAsked({ ...asked, agentId: event.target.value })}
        >
          {(choices?.agents ?? []).map(({ value }) => (
            <option key={value}>{value}</option>
          ))}
        </Select>
        <span className="lab">{text.whyTool}</span>
        <input
          className="in mono"
          aria-label={text.whyTool}
          list="why-tools"
          autoComplete="off"
          value={asked.tool}
          onChange={(event) => setAsked({ ...asked, tool: event.target.value })}
        />
        <datalist id="why-tools">
          {(choices?.tools ?? []).map(({ value }) => (
            <option key={value} value={value} />
          ))}
        </datalist>
        <span className="lab">{text.input}</span>
        <textarea
          className="in mono"
          rows={3}
          aria-label={text.input}
          value={asked.input}
          onChange={(event) => setAsked({ ...asked, input: event.target.value })}
        />
        <span />
        <div className={look["row"]}>
          <button type="submit" className="btn btn-p" disabled={state.busy || asked.tool.trim() === ""}>
            {text.whyAsk}
          </button>
          <span className="dim">{text.whyMore}</span>
        </div>
      </form>
      {state.error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(state.error)}
        </p>
      )}
      {state.done !== undefined && (
        <section className={look["part"]} aria-live="polite">
          <h2 className="h3">
            <span className={verdictClass(state.done.verdict)}>{text.verdict[state.done.verdict]}</span>
          </h2>
          <Checks checks={state.done.checks} />
          <WhatWouldChange change={state.done.change} />
        </section>
      )}
    </div>
  )
}
