package agentcli

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that ends its processes when the last handle closes,
// which is also what happens when this program is killed.
type group struct {
	job windows.Handle // 0 when the process could not join one
	pid int
}

// prepare hides the console window.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// adopt puts the started process into a job of its own.
func adopt(cmd *exec.Cmd) *group {
	g := &group{pid: cmd.Process.Pid}
	job, err := newJob()
	if err != nil {
		return g
	}
	joined := false
	if err := cmd.Process.WithHandle(func(handle uintptr) {
		joined = windows.AssignProcessToJobObject(job, windows.Handle(handle)) == nil
	}); err != nil || !joined {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// terminate ends the job: there is no gentle way for a process without a window.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
		return
	}
	killTree := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.pid))
	prepare(killTree)
	killTree.Run()
}

func (g *group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
}

// signalName is "": no signal ends a process here.
func signalName(*os.ProcessState) string { return "" }
