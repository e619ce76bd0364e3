import type { Explanation } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import type { IconName } from "../ui/icon-paths.ts"
import { Icon } from "../ui/icon.tsx"
import { useSay, useWords } from "../words/words.tsx"
import look from "./steps.module.css"

/** A check and what it said. Recorded reasons have no verdict: they are why a person was asked or why it was refused. */
export interface Checked {
  readonly check: string
  readonly source: string
  readonly code?: string
  readonly params?: unknown
  readonly sentence: string
  readonly verdict?: "allow" | "ask" | "deny" | "pass"
  readonly binding?: unknown
}

type Params = Parameters<ReturnType<typeof useSay>>[0]["params"]

const icons: Readonly<Record<string, IconName>> = { allow: "check", ask: "hand-stop", deny: "ban", pass: "minus" }

/** Checks in the order in which they were made. */
export function Checks({ checks }: { checks: readonly Checked[] }) {
  const say = useSay()
  const words = useWords()
  return (
    <ul className={look["chks"]} data-checks>
      {checks.map(({ check, source, code = "", params, sentence, verdict = "ask", binding }, at) => (
        <li className={`${look["chk"]} ${look[`chk-${verdict}`] ?? ""}`} key={`${at} ${sentence}`}>
          <Icon name={icons[verdict] ?? "minus"} />
          <span className="grow">
            <span className="vh">{words.steps.verdict[verdict]}: </span>
            {say({ code: code === "passes" ? `passes_${check}` : code, params: params as Params, text: sentence })}
            {binding === true && <span className="dim"> {words.card.everyTime}</span>}
          </span>
          <code className="cut" title={source}>
            {check}
          </code>
        </li>
      ))}
    </ul>
  )
}

/** Shows changes that would give another verdict. Commands and lines of YAML stay as they are. */
export function WhatWouldChange({ change }: { change: readonly string[] }) {
  const words = useWords()
  if (change.length === 0) return null
  return (
    <div className="change">
      <b>{words.inbox.whatWouldChange}</b>
      <ul>
        {change.map((each) => (
          <li key={each}>{/^(qm |- |\w+:)/.test(each) ? <code>{each}</code> : each}</li>
        ))}
      </ul>
    </div>
  )
}

/** The checks of the steps `visible` and `allowed`. The first of the second step is about limits. */
export function checksByStep({ checks }: Pick<Explanation, "checks">) {
  const limit = checks.findIndex(({ check }) => check === "limit")
  const known = checks.filter(({ check }) => check !== "registry" && check !== "schema")
  if (limit === -1) return { visible: known, allowed: [] }
  return { visible: checks.slice(0, limit), allowed: checks.slice(limit) }
}
