import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { Charts } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import type { EndingCode } from "../../../src/core/result.ts"
import { agentsQuery, toolsQuery } from "../tools/queries.ts"
import { Select } from "../ui/select.tsx"
import { useWords } from "../words/words.tsx"
import { spanOf, type AuditSearch } from "./queries.ts"
import look from "./audit.module.css"

/** Every code, in the order of the steps at which it ends a call. A missing one is a type error. */
const codes: Readonly<Record<EndingCode, true>> = {
  unknown_tool: true,
  key_conflict: true,
  tool_not_available: true,
  frozen: true,
  invalid_arguments: true,
  permission_denied: true,
  path_outside_workspace: true,
  command_denied: true,
  host_denied: true,
  rate_limited: true,
  approval_rejected: true,
  approval_expired: true,
  timeout: true,
  aborted: true,
  tool_failed: true,
  output_invalid: true,
  interrupted: true,
  unknown_outcome: true,
  upstream_unavailable: true,
  record_unavailable: true,
  result_withheld: true,
}

interface Props {
  readonly search: AuditSearch
  readonly change: (search: AuditSearch) => void
  readonly charts: Charts | undefined
}

/** Shows the filters in force. They are in the address, so that a link shows the same. */
export function Filters({ search, change, charts }: Props) {
  const words = useWords()
  const agents = useQuery(agentsQuery).data ?? []
  const tools = useQuery(toolsQuery).data ?? []
  const put = (name: keyof AuditSearch, value: string) => {
    const { [name]: _before, ...rest } = search
    change(value === "" ? rest : { ...rest, [name]: value })
  }
  const span = spanOf(search)
  const { last: _last, ...others } = search
  return (
    <form
      className={look["fils"]}
      role="search"
      aria-label={words.audit.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      <Select
        className="select-s"
        aria-label={words.audit.last}
        value={span}
        onChange={({ target }) => put("last", target.value === "day" ? "" : target.value)}
      >
        {(["hour", "day", "week", "month", "always", "range"] as const).map((each) => (
          <option key={each} value={each}>
            {words.audit[each]}
          </option>
        ))}
      </Select>
      {span === "range" && (
        <>
          <Moment label={words.audit.from} value={search.from} put={(value) => put("from", value)} />
          <Moment label={words.audit.to} value={search.to} put={(value) => put("to", value)} />
        </>
      )}
      <Choice
        label={words.audit.agent}
        value={search.agent}
        options={agents.map(({ id }) => id)}
        put={(value) => put("agent", value)}
      />
      <Choice
        label={words.audit.tool}
        value={search.tool}
        options={[...tools.map(({ name }) => name), ...(charts?.tools ?? []).map(({ tool }) => tool)]}
        put={(value) => put("tool", value)}
      />
      <Choice
        label={words.audit.ending}
        value={search.ending}
        options={["success", ...Object.keys(codes)]}
        put={(value) => put("ending", value)}
      />
      <Task value={search.task} put={(value) => put("task", value)} />
      {Object.keys(others).length > 0 && (
        <button
          type="button"
          className="btn btn-s btn-q"
          onClick={() => change(search.last === undefined ? {} : { last: search.last })}
        >
          {words.audit.clear}
        </button>
      )}
      <span className="grow" />
      {charts !== undefined && <Counted charts={charts} />}
    </form>
  )
}

function Counted({ charts }: { charts: Charts }) {
  const words = useWords()
  const sum = (of: "ran" | "failed" | "notApproved" | "refused") =>
    charts.hours.reduce((all, hour) => all + hour[of], 0)
  const bad = sum("failed") + sum("notApproved") + sum("refused")
  return (
    <span className="dim num wide-only" aria-live="polite">
      {words.audit.counted(bad + sum("ran"), bad)}
    </span>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string | undefined
  readonly options: readonly string[]
  readonly put: (value: string) => void
}

function Choice({ label, value = "", options, put }: ChoiceProps) {
  const words = useWords()
  const all = [...new Set(value === "" ? options : [value, ...options])]
  return (
    <Select
      className={value === "" ? `select-s ${look["fil"]}` : `select-s ${look["fil"]} ${look["fil-on"]}`}
      aria-label={label}
      value={value}
      onChange={({ target }) => put(target.value)}
    >
      <option value="">{`${label}: ${words.audit.any}`}</option>
      {all.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </Select>
  )
}

function Moment({ label, value = "", put }: Omit<ChoiceProps, "options">) {
  return (
    <label className={look["fil-t"]}>
      <span className="dim">{label}</span>
      <input className="in" type="datetime-local" value={value} onChange={({ target }) => put(target.value)} />
    </label>
  )
}

/** A task is named in full, so it counts when it was typed to the end. */
function Task({ value = "", put }: { value: string | undefined; put: (value: string) => void }) {
  const words = useWords()
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      className={`in ${look["fil-q"]}`}
      aria-label={words.audit.taskId}
      placeholder={words.audit.taskId}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => typed !== value && put(typed.trim())}
      onKeyDown={({ key }) => key === "Enter" && put(typed.trim())}
    />
  )
}
