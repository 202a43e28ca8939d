/** Objects that have what Electron's have as far as the shell uses it, and say so where it asks for more. */

/** What JavaScript itself asks an object for, when it is awaited, printed, compared or turned to text. */
const asked = new Set(['then', 'toJSON', 'constructor', 'asymmetricMatch', 'inspect', 'nodeType', '$$typeof'])

/** What may still be asked of an object whose native half is gone. */
const askedOfTheGone = new Set(['isDestroyed', 'on', 'once', 'off', 'removeListener', 'id'])

/**
 * A member that is not there throws with its name, so that no use of an API goes unnoticed. What is gone throws as Electron's
 * objects do; what needs the application to be ready throws before.
 */
export function strict<T extends object>(
  name: string,
  target: T,
  { gone = () => false, early = () => false }: { gone?: () => boolean; early?: (member: string) => boolean } = {},
): T {
  return new Proxy(target, {
    get(object, member) {
      if (typeof member === 'string' && gone() && !askedOfTheGone.has(member) && !asked.has(member))
        throw new TypeError('Object has been destroyed')
      if (typeof member === 'string' && member in object && early(member))
        throw new Error(`${name}.${member} cannot be used before the app is ready.`)
      if (typeof member === 'symbol' || member in object || asked.has(member)) {
        const value: unknown = Reflect.get(object, member, object)
        return typeof value === 'function' && member !== 'constructor' ? value.bind(object) : value
      }
      throw new Error(`The stand-in has no ${name}.${member}.`)
    },
    set(object, member, value) {
      const setter = Object.getOwnPropertyDescriptor(object, member)?.set
      if (setter) {
        setter.call(object, value)
        return true
      }
      throw new Error(`The stand-in has no ${name}.${String(member)} to set.`)
    },
  })
}

/** The same for a class: its static members, and its instances. */
export function strictClass<T extends new (...args: never[]) => object>(name: string, base: T): T {
  return new Proxy(base, {
    get(target, member, receiver) {
      if (typeof member === 'symbol' || member in target || asked.has(member))
        return Reflect.get(target, member, receiver) as unknown
      throw new Error(`The stand-in has no ${name}.${member}.`)
    },
    construct: (target, args, made) => strict(name, Reflect.construct(target, args, made)) as object,
  })
}

/** Events that may be refused. */
export class Preventable {
  defaultPrevented = false
  preventDefault = (): void => {
    this.defaultPrevented = true
  }
}
