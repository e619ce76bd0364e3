import { useMediaQuery } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { createRole, roleQuery, rolesQuery } from "./queries.ts"
import { RoleForm } from "./role-form.tsx"
import look from "./roles.module.css"

/** Roles: who has which tools, and what a change would mean before it is saved. */
export function Roles() {
  const words = useWords()
  const text = words.govern.role
  const navigate = useNavigate()
  const { roleId } = useParams({ strict: false })
  const { scopes } = useMe()
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  const query = useQuery(rolesQuery)
  const { data } = query
  const first = data?.[0]?.id
  useEffect(() => {
    if (roleId === undefined && wide && first !== undefined)
      void navigate({ to: "/organisation/roles/$roleId", params: { roleId: first }, replace: true })
  }, [roleId, wide, first, navigate])
  return (
    <div className={look["page"]}>
      {(wide || roleId === undefined) && (
        <aside className={look["list"]}>
          <div className="scroll" tabIndex={0} role="group" aria-label={words.govern.org.roles}>
            {scopes.includes("manage") && <NewRole />}
            {data === undefined && <Loading of={query} lines={4} />}
            <ul>
              {(data ?? []).map(({ id, name, agents, toolGroups, madeBy, createdBy, source }) => (
                <li key={id}>
                  <Link
                    to="/organisation/roles/$roleId"
                    params={{ roleId: id }}
                    className={look["role"]}
                    aria-current={id === roleId ? "page" : undefined}
                    data-role={name}
                  >
                    <span className="cut">{printable(name)}</span>
                    <small>
                      {text.rows(agents, toolGroups?.length)}
                      {madeBy === "configuration" && `${words.card.comma}${source}`}
                      {madeBy === "agent" && <span className="tag tag-said">{text.madeBy(printable(createdBy))}</span>}
                    </small>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        </aside>
      )}
      {roleId !== undefined && <Role key={roleId} id={roleId} />}
    </div>
  )
}

function Role({ id }: { id: string }) {
  const query = useQuery(roleQuery(id))
  const isGone = query.error !== null && problemOf(query.error).status === 404
  if (query.data !== undefined) return <RoleForm id={id} page={query.data} isGone={isGone} />
  return (
    <section className={look["main"]}>
      <Loading of={query} lines={4} />
    </section>
  )
}

function NewRole() {
  const text = useWords().govern.role
  const navigate = useNavigate()
  const problem = useProblemText()
  const [name, setName] = useState<string>()
  const [error, setError] = useState<unknown>()
  if (name === undefined)
    return (
      <button type="button" className={`btn btn-s ${look["new"]}`} onClick={() => setName("")}>
        <Icon name="plus" small />
        {text.newRole}
      </button>
    )
  const make = async () => {
    try {
      const { id } = await createRole({ name: name.trim(), toolGroups: [] })
      void queries.invalidateQueries({ queryKey: ["org"] })
      setName(undefined)
      void navigate({ to: "/organisation/roles/$roleId", params: { roleId: id } })
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <form
      className={look["newForm"]}
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <input
        className="in"
        aria-label={text.name}
        placeholder={text.name}
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setName(undefined)}
      />
      <button type="submit" className="btn btn-s" disabled={name.trim() === ""}>
        {text.create}
      </button>
      {error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(error)}
        </p>
      )}
    </form>
  )
}
