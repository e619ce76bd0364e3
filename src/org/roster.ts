import type { Agent, Department, Freeze, Person, Role } from "../core/organisation.ts"
import type { Sourced } from "./organisation-admin.ts"
import type { DocumentKind, Documents } from "../core/documents.ts"
import { everyAgent } from "./freezes.ts"
import { sources, type ConfiguredOrganisation } from "./configured-organisation.ts"

/** The configured and the stored organisation as one. Where both define the same id, the configuration wins. */
export class Roster {
  readonly configured: ConfiguredOrganisation
  readonly #documents: Documents

  constructor(configured: ConfiguredOrganisation, documents: Documents) {
    this.configured = configured
    this.#documents = documents
  }

  /**
   * The live role with this id. When the configuration has a role of the same name, it replaces a stored role created by
   * a person. A stored role created by an agent is then ignored, so that no agent gains permissions by choosing a name.
   */
  role(id: string): Sourced<Role> | undefined {
    const configured = this.configured.roles.get(id)
    if (configured !== undefined) return configured
    const stored = this.#stored<Role>("role", id)
    if (stored === undefined || stored.status !== "active") return undefined
    const configuredTwin = this.#configuredTwin(stored)
    if (configuredTwin === undefined) return stored
    return stored.madeBy === "person" && configuredTwin.source === sources.configuration ? configuredTwin : undefined
  }

  /** The live role with this id, else with this name. */
  findRole(idOrName: string): Sourced<Role> | undefined {
    return (
      this.configured.rolesByIdOrName.get(idOrName) ??
      this.role(idOrName) ??
      this.roles().find((role) => role.status === "active" && role.name === idOrName)
    )
  }

  /** Live roles by name, then deleted roles by name. */
  roles(): Sourced<Role>[] {
    const stored = this.#all<Role>("role").filter((role) => this.#configuredTwin(role) === undefined)
    return byName([...this.configured.roles.values(), ...stored])
  }

  /** Also returns a terminated agent. */
  agent(id: string): Sourced<Agent> | undefined {
    return this.configured.agents.get(id) ?? this.#stored<Agent>("agent", id)
  }

  /** All agents ordered by id, also terminated ones. */
  agents(): Sourced<Agent>[] {
    const stored = this.#all<Agent>("agent").filter(({ id }) => !this.configured.agents.has(id))
    return [...this.configured.agents.values(), ...stored].sort((a, b) => compare(a.id, b.id))
  }

  department(id: string): Sourced<Department> | undefined {
    return this.configured.departments.get(id) ?? live(this.#stored<Department>("department", id))
  }

  departments(): Sourced<Department>[] {
    const stored = this.#all<Department>("department").filter(({ id }) => !this.configured.departments.has(id))
    return byName([...this.configured.departments.values(), ...stored]).filter(isLive)
  }

  person(id: string): Sourced<Person> | undefined {
    return this.configured.people.get(id) ?? live(this.#stored<Person>("person", id))
  }

  people(): Sourced<Person>[] {
    const stored = this.#all<Person>("person").filter(({ id }) => !this.configured.people.has(id))
    return byName([...this.configured.people.values(), ...stored]).filter(isLive)
  }

  freeze(id: string): Freeze | undefined {
    const document = this.#documents.get("freeze", id)
    if (document?.live !== true) return undefined
    return { ...(document.body as Freeze), agentId: id === everyAgent ? undefined : id }
  }

  /** The configured role that has this role's id or name. */
  #configuredTwin({ id, name }: Role): Sourced<Role> | undefined {
    return this.configured.rolesByIdOrName.get(id) ?? this.configured.rolesByIdOrName.get(name)
  }

  #stored<T>(kind: DocumentKind, id: string): Sourced<T> | undefined {
    const document = this.#documents.get(kind, id)
    return document && { ...(document.body as T), source: sources.store }
  }

  #all<T>(kind: DocumentKind): Sourced<T>[] {
    return Array.from(this.#documents.all(kind), ({ body }) => ({ ...(body as T), source: sources.store }))
  }
}

function isLive({ status }: { status: string }): boolean {
  return status === "active"
}

function live<T extends { status: string }>(found: T | undefined): T | undefined {
  return found !== undefined && isLive(found) ? found : undefined
}

function byName<T extends { id: string; name: string; status: string }>(list: T[]): T[] {
  const rank = (item: T) => (isLive(item) ? 0 : 1)
  return list.sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name) || compare(a.id, b.id))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
