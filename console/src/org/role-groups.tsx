import type { GroupVerdictsJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { Icon } from "../ui/icon.tsx"
import { useSay, useWords } from "../words/words.tsx"
import look from "./roles.module.css"

interface Props {
  readonly groups: readonly GroupVerdictsJson[]
  /** The groups that the role has as it is stored. */
  readonly had: ReadonlySet<string>
  /** Null: all of them. */
  readonly chosen: string[] | null
  readonly disabled: boolean
  readonly change: (groups: string[] | null) => void
}

const does = ["runs", "asks", "denied"] as const

/** All groups or these, each with its tools and what they do for an agent of this role. */
export function RoleGroups({ groups, had, chosen, disabled, change }: Props) {
  const text = useWords().govern.role
  const say = useSay()
  const toggle = (id: string) => {
    const now = chosen ?? groups.map((group) => group.id)
    change(now.includes(id) ? now.filter((each) => each !== id) : [...now, id])
  }
  return (
    <section className={look["groupsPart"]}>
      <div className={look["groupsHead"]}>
        <h3 className="h3">{text.groups}</h3>
        <span className="seg" role="group" aria-label={text.groups}>
          <button type="button" aria-pressed={chosen === null} disabled={disabled} onClick={() => change(null)}>
            {text.all}
          </button>
          <button
            type="button"
            aria-pressed={chosen !== null}
            disabled={disabled}
            onClick={() => chosen === null && change([...had])}
          >
            {text.these}
          </button>
        </span>
        <span className="grow" />
        <span className={look["tools"]}>
          {does.map((each) => (
            <code key={each} data-does={each}>
              {text.legend[each]}
            </code>
          ))}
        </span>
      </div>
      <ul className={look["groups"]}>
        {groups.map(({ id, description, tools }) => {
          const isIn = chosen === null || chosen.includes(id)
          const usable = tools.filter((tool) => tool.does !== "denied").length
          const odd = isIn ? tools.find((tool) => tool.does === "denied" && tool.reason !== undefined) : undefined
          return (
            <li
              key={id}
              className={look["group"]}
              data-group={id}
              data-change={isIn === had.has(id) ? undefined : "yes"}
            >
              <label className={look["groupHead"]}>
                <input type="checkbox" checked={isIn} disabled={disabled} onChange={() => toggle(id)} />
                <b>{id}</b>
                <span className="dim cut grow">{description}</span>
                {isIn !== had.has(id) && (
                  <span className={`tag ${isIn ? "tag-ok" : "tag-deny"}`}>{isIn ? text.added : text.removed}</span>
                )}
                <span className="dim num">{text.ofTools(isIn ? usable : tools.length, tools.length)}</span>
              </label>
              {isIn && (
                <p className={look["tools"]}>
                  {tools.map((tool) => (
                    <code key={tool.name} data-does={tool.does}>
                      {tool.name}
                      <span className="vh">: {text.legend[tool.does]}</span>
                    </code>
                  ))}
                </p>
              )}
              {odd?.reason !== undefined && (
                <p className={look["odd"]}>
                  <Icon name="info-circle" small />
                  {odd.name}: {say({ ...odd.reason, text: odd.reason.sentence })}
                </p>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
