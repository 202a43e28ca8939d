/** Theme, zoom and the window's width in the page, kept as the settings say (S-176). */
import { useEffect } from 'react'
import { useWindow } from '../state/window-store.ts'
import { useSetting } from '../state/workbench-store.ts'
import { setTheme } from './theme.ts'

/** Zoom as a factor: what counts pixels (row heights, terminal type) multiplies by it. */
export function useZoom(): number {
  return useSetting('app.zoom') / 100
}

/** Everything is measured in rem, so zoom is the root's type size; widths are then compared in unzoomed pixels. */
export function useAppearance(): void {
  const theme = useSetting('app.theme')
  const zoom = useZoom()
  useEffect(() => setTheme(theme), [theme])
  useEffect(() => {
    document.documentElement.style.fontSize = zoom === 1 ? '' : `${zoom * 100}%`
    const measure = () => useWindow.setState({ width: innerWidth / zoom })
    measure()
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [zoom])
}
