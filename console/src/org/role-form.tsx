import { Link } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import type {
  RoleChangeBody,
  RolePageJson,
  RolePreviewJson,
} from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { commandKey } from "../frame/keys-help.tsx"
import { Gone } from "../ui/gone.tsx"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { previewRole, roleQuery, saveRole } from "./queries.ts"
import { changeOf, fieldsOf, type RoleFields } from "./role-fields.ts"
import { RoleCopyAndDelete } from "./role-end.tsx"
import { RoleGroups } from "./role-groups.tsx"
import { RolePreview } from "./role-preview.tsx"
import look from "./roles.module.css"

/** A role to change. What a change means for each agent stands beside it before it is saved. */
export function RoleForm({ id, page, isGone }: { id: string; page: RolePageJson; isGone: boolean }) {
  const words = useWords()
  const text = words.govern.role
  const tell = useTell()
  const problem = useProblemText()
  const manages = useMe().scopes.includes("manage")
  const [read, setRead] = useState(page)
  const [fields, setFields] = useState(() => fieldsOf(page))
  const [state, setState] = useState<{ saving: boolean; error?: unknown; meanwhile?: boolean }>({ saving: false })
  const begin = fieldsOf(read)
  const change = changeOf(begin, fields)
  const isChanged = Object.keys(change).length > 0
  const preview = usePreview(id, change, isChanged)
  // Changes that others saved are taken over as long as nothing was typed here.
  if (page !== read && !isChanged) {
    setRead(page)
    setFields(fieldsOf(page))
  }
  const set = (next: Partial<RoleFields>) => setFields((before) => ({ ...before, ...next }))
  const mayEdit = read.editable && manages && !isGone
  const had = new Set(read.groups.filter(({ has }) => has).map((group) => group.id))

  const save = async () => {
    setState({ saving: true })
    const fresh = () => queries.fetchQuery({ ...roleQuery(id), staleTime: 0 })
    try {
      await saveRole(id, { ...change, revision: read.revision })
      const saved = await fresh()
      setRead(saved)
      setFields(fieldsOf(saved))
      setState({ saving: false })
      for (const topic of ["org", "tools"]) void queries.invalidateQueries({ queryKey: [topic] })
      tell({ icon: "check", text: text.saved, ms: 8000 })
    } catch (error) {
      const meanwhile = problemOf(error).code === "changed_meanwhile"
      if (meanwhile) setRead(await fresh())
      setState({ saving: false, error, meanwhile })
    }
  }
  const named = (list: readonly string[]) => list.map((name) => [name, name] as const)
  const choices = [
    ["department", text.department, text.none, read.departments.map((each) => [each.id, each.name] as const)],
    ["level", text.level, text.none, read.levels.map(({ level, name }) => [`${level}`, `${level} ${name}`] as const)],
    ["model", text.model, text.usual, named(read.models)],
    ["dialect", text.dialect, text.usual, named(["native", "claude", "classic"])],
  ] as const
  return (
    <>
      <form
        className={look["main"]}
        aria-labelledby="role-t"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
        onKeyDown={(event) => {
          if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey)) return
          event.preventDefault()
          if (isChanged && mayEdit) void save()
        }}
      >
        <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={printable(read.role.name)}>
          <header className="card-h">
            <Link to="/organisation/roles" className="ib phone-only" aria-label={words.govern.org.roles}>
              <Icon name="chevron-left" />
            </Link>
            <h2 id="role-t">{printable(read.role.name)}</h2>
            <div className="facts">
              <span>{text.madeBy(printable(read.role.createdBy))}</span>
              <i className="sep" />
              <span>{text.rows(read.agents.length, read.role.toolGroups?.length)}</span>
              {read.agents.slice(0, 6).map(({ id: agentId }) => (
                <Link key={agentId} to="/organisation/agents/$agentId" params={{ agentId }}>
                  {agentId}
                </Link>
              ))}
            </div>
          </header>
          {isGone && <Gone text={text.gone} />}
          {read.locked !== undefined && (
            <p className="strip strip-in strip-ask">
              <Icon name="lock" />
              <span>
                <Marked text={text.locked(read.role.source === "built in")} />
              </span>
            </p>
          )}
          <label className="field">
            <span className="lab">{text.prompt}</span>
            <textarea
              className="in"
              rows={3}
              readOnly={!mayEdit}
              value={fields.rolePrompt}
              onChange={(event) => set({ rolePrompt: event.target.value })}
            />
          </label>
          <div className={look["four"]}>
            {choices.map(([name, label, none, options]) => (
              <label key={name} className="field">
                <span className="lab">{label}</span>
                <Select
                  value={fields[name]}
                  disabled={!mayEdit}
                  onChange={(event) => set({ [name]: event.target.value })}
                >
                  <option value="">{none}</option>
                  {options.map(([value, title]) => (
                    <option key={value} value={value}>
                      {title}
                    </option>
                  ))}
                </Select>
              </label>
            ))}
          </div>
          <RoleGroups
            groups={preview?.groups ?? read.groups}
            had={had}
            chosen={fields.toolGroups}
            disabled={!mayEdit}
            change={(toolGroups) => set({ toolGroups })}
          />
          {state.error !== undefined && (
            <p className="strip strip-in strip-deny" role="alert">
              <Icon name="alert-triangle" />
              <span>{state.meanwhile === true ? <Marked text={text.meanwhile} /> : problem(state.error)}</span>
            </p>
          )}
        </div>
        <footer className={look["bar"]}>
          <p className="grow dim">{!manages ? <Marked text={words.govern.org.mayNot} /> : isChanged && text.unsaved}</p>
          {manages && !isChanged && !isGone && <RoleCopyAndDelete id={id} page={read} />}
          {isChanged && (
            <>
              <button type="button" className="btn" onClick={() => setFields(begin)}>
                {text.discard}
              </button>
              <button
                type="submit"
                className="btn btn-p"
                disabled={isGone || state.saving || preview?.refused !== undefined}
              >
                {text.save}
                <kbd aria-hidden="true">{commandKey}S</kbd>
              </button>
            </>
          )}
        </footer>
      </form>
      <RolePreview preview={isChanged ? preview : undefined} isChanged={isChanged} />
    </>
  )
}

/** Returns the server's preview of a change, a moment after the last key. */
function usePreview(id: string, change: RoleChangeBody, isChanged: boolean): RolePreviewJson | undefined {
  const [preview, setPreview] = useState<RolePreviewJson>()
  const asked = JSON.stringify(change)
  const latest = useRef(asked)
  useEffect(() => {
    latest.current = asked
    if (!isChanged) return setPreview(undefined)
    const timer = setTimeout(() => {
      previewRole(id, JSON.parse(asked) as RoleChangeBody).then(
        (answer) => latest.current === asked && setPreview(answer),
        // The next key asks again.
        () => {},
      )
    }, 200)
    return () => clearTimeout(timer)
  }, [id, asked, isChanged])
  return preview
}
