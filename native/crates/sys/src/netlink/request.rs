use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use super::NetlinkError;

/// What a request is about, for its error.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) operation: &'static str,
    pub(super) subject: &'a str,
}

/// Sends a change and waits for its acknowledgement. `flags` are added to the usual ones.
pub(super) fn change(
    message: RouteNetlinkMessage,
    flags: u16,
    about: About<'_>,
) -> Result<(), NetlinkError> {
    ask(message, NLM_F_REQUEST | NLM_F_ACK | flags, about).map(drop)
}

/// Asks for everything of a kind.
pub(super) fn dump(
    message: RouteNetlinkMessage,
    about: About<'_>,
) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
    ask(message, NLM_F_REQUEST | NLM_F_DUMP, about)
}

/// Asks for one object; the answer ends with an acknowledgement.
pub(super) fn get(
    message: RouteNetlinkMessage,
    about: About<'_>,
) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
    ask(message, NLM_F_REQUEST | NLM_F_ACK, about)
}

fn ask(
    message: RouteNetlinkMessage,
    flags: u16,
    about: About<'_>,
) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header.sequence_number = 1;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);

    let socket = open().map_err(|source| NetlinkError::Socket { source })?;
    socket
        .send(&bytes, 0)
        .map_err(|source| NetlinkError::Socket { source })?;
    let mut answers = Vec::new();
    loop {
        let (datagram, _) = receive(&socket).map_err(|source| NetlinkError::Socket { source })?;
        if collect(&datagram, &mut answers, about)? == Progress::Complete {
            return Ok(answers);
        }
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

fn receive(socket: &Socket) -> io::Result<(Vec<u8>, SocketAddr)> {
    loop {
        match socket.recv_from_full() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[derive(PartialEq, Eq)]
enum Progress {
    More,
    Complete,
}

/// Reads all messages of one datagram.
fn collect(
    mut datagram: &[u8],
    answers: &mut Vec<RouteNetlinkMessage>,
    about: About<'_>,
) -> Result<Progress, NetlinkError> {
    let unreadable = |detail: String| NetlinkError::Answer { detail };
    while !datagram.is_empty() {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(datagram)
            .map_err(|error| unreadable(error.to_string()))?;
        match message.payload {
            NetlinkPayload::Error(answer) if answer.code.is_none() => {
                return Ok(Progress::Complete);
            }
            NetlinkPayload::Error(answer) => {
                return Err(NetlinkError::refused(
                    about.operation,
                    about.subject,
                    answer.to_io(),
                ));
            }
            NetlinkPayload::Done(done) if done.code < 0 => {
                let source = io::Error::from_raw_os_error(-done.code);
                return Err(NetlinkError::refused(
                    about.operation,
                    about.subject,
                    source,
                ));
            }
            NetlinkPayload::Done(_) => return Ok(Progress::Complete),
            NetlinkPayload::InnerMessage(answer) => answers.push(answer),
            NetlinkPayload::Overrun(_) => {
                return Err(unreadable("the kernel lost part of it".to_owned()));
            }
            // Nothing to do, and kinds the library may add.
            NetlinkPayload::Noop | _ => {}
        }
        let aligned = (message.header.length as usize).next_multiple_of(4);
        datagram = datagram.get(aligned.max(16)..).unwrap_or_default();
    }
    Ok(Progress::More)
}
