//! What a container runtime does to system calls it does not like.

/// Lets these system calls fail with `errno`, for the calling thread and for ever.
pub(crate) fn refuse(calls: &[libc::c_long], errno: i32) {
    let statement = |code: u32, value: u32, (jt, jf): (u8, u8)| libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt,
        jf,
        k: value,
    };
    let mut program = vec![statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        (0, 0),
    )];
    for call in calls {
        let call = u32::try_from(*call).unwrap();
        let refusal = libc::SECCOMP_RET_ERRNO | u32::try_from(errno).unwrap();
        program.push(statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            call,
            (0, 1),
        ));
        program.push(statement(libc::BPF_RET | libc::BPF_K, refusal, (0, 0)));
    }
    let allow = libc::SECCOMP_RET_ALLOW;
    program.push(statement(libc::BPF_RET | libc::BPF_K, allow, (0, 0)));
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap(),
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the call takes numbers only; the thread can gain no rights by it.
    let returned = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the kernel reads one program, whose length and statements are as said, and keeps a copy.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            &raw const program,
        )
    };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
}
