@echo off
rem Starts the command line on Windows; see bin/lathe. A build that is missing or stale is made first.
setlocal
set "root=%~dp0.."
if exist "%root%\..\Lathe.exe" (
  "%root%\..\Lathe.exe" --command-line %*
  exit /b
)
set "node=%root%\node_modules\node\bin\node.exe"
if not exist "%node%" set "node=node"
"%node%" "%root%\scripts\build.ts" --if-stale 1>&2 || exit /b 1
"%node%" "%root%\out\main\lathe.js" %*
exit /b %errorlevel%
