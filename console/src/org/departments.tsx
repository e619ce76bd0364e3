import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { Loading } from "../ui/loading.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { createDepartment, departmentsQuery, removeDepartment, treeQuery } from "./queries.ts"
import look from "./org.module.css"

/** Departments: agents in one have its tools and rules. */
export function Departments() {
  const words = useWords()
  const text = words.govern.department
  const problem = useProblemText()
  const manages = useMe().scopes.includes("manage")
  const query = useQuery(departmentsQuery)
  const { data } = query
  const { data: tree } = useQuery(treeQuery)
  const [made, setMade] = useState({ id: "", name: "" })
  const [error, setError] = useState<unknown>()
  const act = (work: Promise<unknown>) =>
    work.then(
      () => {
        setError(undefined)
        setMade({ id: "", name: "" })
        void queries.invalidateQueries({ queryKey: ["org"] })
      },
      (failure: unknown) => setError(failure),
    )
  return (
    <div className={`scroll ${look["plain"]}`} tabIndex={0} role="group" aria-label={words.govern.org.departments}>
      {data === undefined && <Loading of={query} lines={2} />}
      {data?.length === 0 && (
        <div>
          <b>{text.none}</b>
          <p className="soft">{text.noneMore}</p>
        </div>
      )}
      <ul className={look["departments"]}>
        {(data ?? []).map(({ id, name }) => {
          const agents = (tree?.agents ?? []).filter(({ department }) => department === id)
          const some = agents.slice(0, 12).map((agent) => agent.id)
          return (
            <li key={id} data-department={id}>
              <span className="grow">
                <b>{printable(name)}</b> <code className="dim">{id}</code>
                <small>{[text.agents(agents.length), ...some].join(words.card.comma)}</small>
              </span>
              {manages && (
                <button type="button" className="btn btn-s btn-q" onClick={() => void act(removeDepartment(id))}>
                  {text.remove}
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(error)}
        </p>
      )}
      {manages && (
        <form
          className="making"
          onSubmit={(event) => {
            event.preventDefault()
            const id = made.id.trim()
            void act(createDepartment({ id, name: made.name.trim() === "" ? id : made.name.trim() }))
          }}
        >
          {(["id", "name"] as const).map((field) => (
            <label key={field} className="field">
              <span className="lab">{text[field]}</span>
              <input
                className="in"
                autoComplete="off"
                maxLength={200}
                placeholder={text.example[field]}
                value={made[field]}
                onChange={(event) => setMade({ ...made, [field]: event.target.value })}
              />
            </label>
          ))}
          <button type="submit" className="btn" disabled={made.id.trim() === ""}>
            {text.add}
          </button>
        </form>
      )}
    </div>
  )
}
